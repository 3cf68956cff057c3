#include "cli/manifest.h"

#include <algorithm>
#include <filesystem>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "cli/json.h"
#include "cli/source_file.h"
#include "cli/status.h"
#include "src/core/file.h"
#include "src/jit/source_set.h"
#include "src/registry/suggest.h"

namespace einkorn::cli {
namespace {

namespace fs = std::filesystem;

/// Where in a manifest we are, for messages.
struct Place {
  std::string file;
  std::string row;

  [[noreturn]] void refuse(const std::string& reason) const {
    throw Exit(kBadUsage, fmt::format("manifest {}: {}{}\n  hint: docs/guide/jit.md shows the form",
                                      file, row, reason));
  }

  /// Runs `body`; bad usage in it is of this row.
  template <class Body>
  decltype(auto) within(Body&& body) const {
    try {
      return as_usage(body);
    } catch (const Exit& exit) {
      throw Exit(exit.status(), fmt::format("manifest {}: {}{}", file, row, exit.what()));
    }
  }
};

using Archs = std::function<std::vector<std::string>()>;

/// A key that is misspelt would be left out in silence.
void check_keys(const Json& json, const std::vector<std::string_view>& known, const Place& place) {
  if (!json.is_object()) place.refuse("expected an object");
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    place.within([&] { throw Exit(kBadUsage, "key: " + expected_one_of(key, known)); });
  }
}

std::string text_at(const Json& json, const char* key, const Place& place) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) {
    place.refuse(fmt::format("expected a text \"{}\"", key));
  }
  return found->get<std::string>();
}

/// Empty when the key is not there.
std::vector<std::string> texts_at(const Json& json, const char* key, const Place& place) {
  const auto found = json.find(key);
  if (found == json.end()) return {};
  if (found->is_string()) return {found->get<std::string>()};
  const bool ok = found->is_array() &&
                  std::ranges::all_of(*found, [](const Json& one) { return one.is_string(); });
  if (!ok) place.refuse(fmt::format("expected texts in \"{}\"", key));
  return found->get<std::vector<std::string>>();
}

const Json& rows_at(const Json& json, const char* key, const Place& place) {
  static const Json kNone = Json::array();
  const auto found = json.find(key);
  if (found == json.end()) return kNone;
  if (!found->is_array()) place.refuse(fmt::format("expected a list \"{}\"", key));
  return *found;
}

void add_kernel(const Json& row, const Place& place, const fs::path& folder, const Archs& archs,
                std::vector<jit::Request>& out) {
  check_keys(row, {"file", "instantiate", "arch", "options", "include_dirs"}, place);
  jit::Request request;
  const std::string file = text_at(row, "file", place);
  std::error_code ignored;
  // Not there: a shipped source, whose name is its path in the tree.
  const bool shipped = !fs::exists(folder / file, ignored) && jit::find_embedded(file) != nullptr;
  request.file = shipped ? file : (folder / file).string();
  place.within([&] { check_source_file("file", request.file); });
  const std::vector<std::string> entries = texts_at(row, "instantiate", place);
  if (entries.empty() || std::ranges::find(entries, "") != entries.end()) {
    place.refuse("expected kernels in \"instantiate\"");
  }
  request.instantiate = entries;
  request.options = texts_at(row, "options", place);
  for (const std::string& include : texts_at(row, "include_dirs", place)) {
    request.include_dirs.push_back((folder / include).string());
  }
  place.within([&] { check_include_folders("include_dirs", request.include_dirs); });
  std::vector<std::string> own = texts_at(row, "arch", place);
  place.within([&] {
    check_cuda_archs("arch", own);
    if (own.empty()) own = archs();
  });
  for (std::string& arch : own) {
    request.arch = std::move(arch);
    out.push_back(request);
  }
}

void add_problem(const Json& row, const Place& place, const Archs& archs,
                 std::vector<jit::Request>& out) {
  check_keys(row, {"op", "problem"}, place);
  const auto view = registry();
  const std::string op = text_at(row, "op", place);
  const std::string keys = text_at(row, "problem", place);
  const Target target = place.within([&] { return find_target(*view, op); });
  const AnyProblem problem =
      place.within([&] { return target.entry->op->parse(split_key_values(keys)); });
  const std::vector<std::string> wanted = place.within([&] { return archs(); });
  for (const std::string& arch : wanted) {
    const DeviceInfo device = place.within([&] { return device_of_arch(arch); });
    const Selection chosen = explain(*target.entry, problem.get(), device, target.choice());
    if (chosen.chosen == nullptr) {
      place.refuse(
          fmt::format("no variant serves it on {}\n  hint: einkorn explain says why", arch));
    }
    add_requests(*chosen.chosen, problem, device, false, out);
  }
}

/// Bad usage with the line where it breaks.
Json parse_manifest(const std::string& text, const Place& place) {
  try {
    Json json = Json::parse(text);
    if (!json.is_object()) place.refuse("expected a JSON object");
    return json;
  } catch (const Json::parse_error& error) {
    // Its message begins with numbers of its own, then says "line 3, column 7: <what>".
    const std::string_view what = error.what();
    const std::size_t at = what.find("line ");
    place.refuse(
        fmt::format("expected JSON: {}", at == std::string_view::npos ? what : what.substr(at)));
  }
}

}  // namespace

DeviceInfo device_of_arch(const std::string& arch) {
  for (const std::string_view name : cuda::known_device_names()) {
    const DeviceInfo device = cuda::known_device(name);
    if (jit::native_arch(device.cc) == arch) return device;
  }
  throw Exit(kBadUsage,
             fmt::format("--arch: expected the arch of a known device, such as sm_80, sm_90a or "
                         "sm_100a, got \"{}\"",
                         arch));
}

void add_requests(const Variant& variant, const AnyProblem& problem, const DeviceInfo& device,
                  bool all_tilings, std::vector<jit::Request>& out) {
  if (refusal_of(variant, problem.get(), device)) return;
  std::vector<std::string> tilings = variant.tilings(problem.get(), device);
  if (!all_tilings) tilings.resize(1);
  for (const std::string& tiling : tilings) {
    const Plan plan = variant.plan(problem.get(), device, tiling);
    for (jit::Request& request : compile_requests(plan, jit::native_arch(device.cc))) {
      out.push_back(std::move(request));
    }
  }
}

std::vector<jit::Request> distinct(std::vector<jit::Request> requests) {
  std::vector<jit::Request> out;
  for (jit::Request& request : requests) {
    if (std::ranges::find(out, request) == out.end()) out.push_back(std::move(request));
  }
  return out;
}

std::vector<jit::Request> manifest_requests(
    const std::string& path, const std::function<std::vector<std::string>()>& archs) {
  const Place whole{path, ""};
  std::error_code none;
  const fs::file_status status = fs::status(path, none);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    whole.refuse("expected a file, got one that is not regular");
  }
  const FileContent content = read_file(path);
  if (content.error) whole.refuse("cannot be read: " + content.error.message());
  const Json json = parse_manifest(content.text, whole);
  check_keys(json, {"kernels", "problems"}, whole);
  std::vector<jit::Request> out;
  const fs::path folder = fs::path(path).parent_path();
  int row = 0;
  for (const Json& kernel : rows_at(json, "kernels", whole)) {
    add_kernel(kernel, {path, fmt::format("kernel {}: ", row++)}, folder, archs, out);
  }
  row = 0;
  for (const Json& problem : rows_at(json, "problems", whole)) {
    add_problem(problem, {path, fmt::format("problem {}: ", row++)}, archs, out);
  }
  if (out.empty()) whole.refuse("lists no kernel and no problem");
  return distinct(std::move(out));
}

}  // namespace einkorn::cli
