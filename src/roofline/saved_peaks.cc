#include "src/roofline/saved_peaks.h"

#include <filesystem>
#include <map>
#include <mutex>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/core/file.h"
#include "src/core/slug.h"
#include "src/core/warning.h"
#include "src/jit/settings.h"

namespace einkorn::roofline {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

struct Saved {
  std::mutex mutex;
  std::map<std::string, std::optional<Peaks>, std::less<>> by_path;
};
Saved& saved() {
  static Saved& instance = *new Saved;
  return instance;
}

struct Reading {
  bool found = false;
  std::optional<Peaks> peaks = std::nullopt;  // nothing in a file that is of no use, as was warned
};

Reading read(const std::string& path, std::string_view device_name) {
  const FileContent file = read_file(path);
  if (file.error == std::errc::no_such_file_or_directory ||
      file.error == std::errc::not_a_directory) {
    return {};
  }
  try {
    EK_CHECK(!file.error, ErrorKind::kRuntime, file.error.message());
    return {true, parse_peaks(file.text, device_name)};
  } catch (const Error& error) {
    warn_once(
        fmt::format("{}: measured peaks are not used: {}\n"
                    "  hint: `einkorn doctor --measure` writes them anew",
                    path, error.what()));
    return {true};
  }
}

}  // namespace

std::vector<std::string> peaks_paths(std::string_view device_name) {
  std::vector<std::string> out = jit::cache_candidates(jit::Settings::from_environment());
  const std::string name = slug(device_name) + ".json";
  for (std::string& root : out) root = (std::filesystem::path(root) / "peaks" / name).string();
  return out;
}

std::string print_peaks(std::string_view device_name, const Peaks& peaks) {
  Json rates = Json::object();
  for (std::size_t i = 0; i < kUnits; ++i) {
    if (peaks.tflops[i] > 0) rates[std::string(kUnitNames[i])] = peaks.tflops[i];
  }
  const Json document = {{"schema", kSchema},
                         {"device", device_name},
                         {"source", peaks.source},
                         {"gbps", peaks.gbps},
                         {"tflops", std::move(rates)}};
  return document.dump(1) + "\n";
}

Peaks parse_peaks(std::string_view text, std::string_view device_name) {
  try {
    const Json document = Json::parse(text);
    const int schema = document.at("schema").get<int>();
    EK_CHECK(schema == kSchema, ErrorKind::kValue,
             fmt::format("schema: expected {}, got {}", kSchema, schema));
    const auto device = document.at("device").get<std::string>();
    EK_CHECK(device == device_name, ErrorKind::kValue,
             fmt::format("device: expected '{}', got '{}'", device_name, device));
    Peaks out;
    out.source = document.at("source").get<std::string>();
    out.gbps = document.at("gbps").get<double>();
    EK_CHECK(out.gbps > 0, ErrorKind::kValue,
             fmt::format("gbps: expected a positive number, got {}", out.gbps));
    for (std::size_t i = 0; i < kUnits; ++i) {
      out.tflops[i] = document.at("tflops").value(std::string(kUnitNames[i]), 0.0);
    }
    return out;
  } catch (const Json::exception& error) {
    throw_error(ErrorKind::kValue, fmt::format("expected a file of peaks: {}", error.what()));
  }
}

std::optional<Peaks> load_peaks(std::string_view device_name) {
  const std::vector<std::string> paths = peaks_paths(device_name);
  Saved& all = saved();
  const std::lock_guard lock(all.mutex);
  // By the preferred path: another environment, another answer.
  const auto found = all.by_path.find(paths.front());
  if (found != all.by_path.end()) return found->second;
  Reading reading;
  for (const std::string& path : paths) {
    reading = read(path, device_name);
    if (reading.found) break;
  }
  return all.by_path[paths.front()] = reading.peaks;
}

std::string save_peaks(std::string_view device_name, const Peaks& peaks) {
  const std::vector<std::string> paths = peaks_paths(device_name);
  const std::string text = print_peaks(device_name, peaks);
  std::string reasons;
  for (const std::string& path : paths) {
    const std::error_code error = replace_file(path, text);
    if (!error) {
      Saved& all = saved();
      const std::lock_guard lock(all.mutex);
      all.by_path[paths.front()] = peaks;
      return path;
    }
    reasons += fmt::format("\n  {}: {}", path, error.message());
  }
  throw_error(ErrorKind::kRuntime, "the peaks cannot be written" + reasons);
}

}  // namespace einkorn::roofline
