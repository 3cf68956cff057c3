#include "cli/manifest.h"

#include <algorithm>
#include <filesystem>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "cli/json.h"
#include "cli/status.h"
#include "src/core/file.h"

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
};

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

void add_kernel(const Json& row, const Place& place, const fs::path& folder,
                std::span<const std::string> archs, std::vector<jit::Request>& out) {
  jit::Request request;
  const std::string file = text_at(row, "file", place);
  std::error_code ignored;
  // Not there: a shipped source, whose name is its path in the tree.
  request.file = fs::exists(folder / file, ignored) ? (folder / file).string() : file;
  request.instantiate = texts_at(row, "instantiate", place);
  if (request.instantiate.empty()) place.refuse("expected a kernel in \"instantiate\"");
  request.options = texts_at(row, "options", place);
  for (const std::string& include : texts_at(row, "include_dirs", place)) {
    request.include_dirs.push_back((folder / include).string());
  }
  std::vector<std::string> own = texts_at(row, "arch", place);
  if (own.empty()) own.assign(archs.begin(), archs.end());
  for (std::string& arch : own) {
    request.arch = std::move(arch);
    out.push_back(request);
  }
}

void add_problem(const Json& row, const Place& place, std::span<const std::string> archs,
                 std::vector<jit::Request>& out) {
  const auto view = registry();
  const Target target = find_target(*view, text_at(row, "op", place));
  const AnyProblem problem = as_usage(
      [&] { return target.entry->op->parse(split_key_values(text_at(row, "problem", place))); });
  for (const std::string& arch : archs) {
    const DeviceInfo device = device_of_arch(arch);
    const Selection chosen = explain(*target.entry, problem.get(), device, target.choice());
    if (chosen.chosen == nullptr) {
      place.refuse(
          fmt::format("no variant serves it on {}\n  hint: einkorn explain says why", arch));
    }
    add_requests(*chosen.chosen, problem, device, false, out);
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

std::vector<jit::Request> manifest_requests(const std::string& path,
                                            std::span<const std::string> archs) {
  Place place{path, ""};
  const FileContent content = read_file(path);
  if (content.error) place.refuse("cannot be read: " + content.error.message());
  const Json json = Json::parse(content.text, nullptr, false);
  if (!json.is_object()) place.refuse("expected a JSON object");
  std::vector<jit::Request> out;
  const fs::path folder = fs::path(path).parent_path();
  int row = 0;
  for (const Json& kernel : rows_at(json, "kernels", place)) {
    place.row = fmt::format("kernel {}: ", row++);
    add_kernel(kernel, place, folder, archs, out);
  }
  row = 0;
  for (const Json& problem : rows_at(json, "problems", {path, ""})) {
    place.row = fmt::format("problem {}: ", row++);
    add_problem(problem, place, archs, out);
  }
  if (out.empty()) Place{path, ""}.refuse("lists no kernel and no problem");
  return distinct(std::move(out));
}

}  // namespace einkorn::cli
