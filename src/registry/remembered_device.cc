#include "src/registry/remembered_device.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <einkorn/version.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "src/core/file.h"
#include "src/jit/cache_root.h"

namespace einkorn {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Paths in the folder, sorted; none where it cannot be read.
std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> out;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    out.push_back(it->path());
  }
  std::ranges::sort(out);
  return out;
}

/// Variables by which the driver, or whoever looks for its library, decides.
std::string variables() {
  constexpr std::array<std::string_view, 3> kPrefixes{"CUDA_",
                                                      "EINKORN_LIBCUDA=", "LD_LIBRARY_PATH="};
  std::vector<std::string_view> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (std::ranges::any_of(kPrefixes, [&](auto prefix) { return text.starts_with(prefix); })) {
      found.push_back(text);
    }
  }
  std::ranges::sort(found);
  return fmt::format("{}", fmt::join(found, "\n"));
}

std::string file_in(const std::string& root) { return root + "/devices.json"; }

/// The file's entries for this state, by index; an empty object when there is nothing of use, which
/// costs no more than a start of the driver.
Json devices_in(const std::string& path, const std::string& state) {
  const Json document = Json::parse(read_file(path).text, nullptr, false);
  if (!document.is_object() || document.value("state", Json()) != Json(state))
    return Json::object();
  const auto devices = document.find("devices");
  return devices != document.end() && devices->is_object() ? *devices : Json::object();
}

Json to_json(const DeviceInfo& info) {
  return {{"name", info.name},
          {"cc", info.cc},
          {"sm_count", info.sm_count},
          {"max_threads_per_sm", info.max_threads_per_sm},
          {"smem_per_block_optin", info.smem_per_block_optin},
          {"smem_per_sm", info.smem_per_sm},
          {"l2_bytes", info.l2_bytes},
          {"datasheet_gbps", info.datasheet_gbps}};
}

DeviceInfo from_json(int index, const Json& json) {
  DeviceInfo info;
  info.device = cuda_device(index);
  info.present = true;
  json.at("name").get_to(info.name);
  json.at("cc").get_to(info.cc);
  json.at("sm_count").get_to(info.sm_count);
  json.at("max_threads_per_sm").get_to(info.max_threads_per_sm);
  json.at("smem_per_block_optin").get_to(info.smem_per_block_optin);
  json.at("smem_per_sm").get_to(info.smem_per_sm);
  json.at("l2_bytes").get_to(info.l2_bytes);
  json.at("datasheet_gbps").get_to(info.datasheet_gbps);
  return info;
}

}  // namespace

std::string driver_state(const std::string& proc, const std::string& dev) {
  const FileContent version = read_file(proc + "/version");
  if (version.error) return {};
  std::string out = fmt::format("einkorn {}\n{}", einkorn::version(), version.text);
  for (const fs::path& device : entries(proc + "/gpus")) {
    out += read_file(device / "information").text;
  }
  // The parts of a divided device (MIG).
  for (const fs::path& device : entries(proc + "/capabilities")) {
    for (const fs::path& part : entries(device / "mig")) out += part.string() + '\n';
  }
  for (const fs::path& node : entries(dev)) {
    const std::string name = node.filename();
    if (name.starts_with("nvidia")) out += name + '\n';
  }
  return out + variables();
}

std::optional<DeviceInfo> remembered_device(int index, const std::string& state) {
  if (state.empty()) return std::nullopt;
  const std::string root = jit::find_cache_root(/*make=*/false);
  if (root.empty()) return std::nullopt;
  const Json devices = devices_in(file_in(root), state);
  const auto found = devices.find(std::to_string(index));
  if (found == devices.end()) return std::nullopt;
  try {
    return from_json(index, *found);
  } catch (const Json::exception&) {
    return std::nullopt;  // as other versions wrote it, or cut off
  }
}

bool remember_device(const DeviceInfo& info, const std::string& state) {
  if (state.empty() || info.device.kind != DeviceKind::kCuda) return false;
  const std::string root = jit::find_cache_root(/*make=*/true);
  if (root.empty()) return false;
  const std::string path = file_in(root);
  Json devices = devices_in(path, state);
  devices[std::to_string(info.device.index)] = to_json(info);
  const Json document = {{"state", state}, {"devices", std::move(devices)}};
  const std::string text = document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  return !replace_file(path, text);
}

}  // namespace einkorn
