#include "src/registry/remembered_device.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <einkorn/registry.h>
#include <einkorn/version.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "src/core/file.h"
#include "src/cuda/driver.h"
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

/// The file in the cache folder; empty without one.
std::string devices_file(bool make) {
  const std::string root = jit::find_cache_root(jit::Settings::from_environment(), make).path;
  return root.empty() ? std::string() : root + "/devices.json";
}

/// The file's entries for this state, by index; an empty object when there is nothing of use, which
/// costs no more than a start of the driver.
Json devices_in(const std::string& path, const std::string& state) {
  const Json document = Json::parse(read_file(path).text, nullptr, false);
  if (!document.is_object() || document.value("state", Json()) != Json(state))
    return Json::object();
  const auto devices = document.find("devices");
  return devices != document.end() && devices->is_object() ? *devices : Json::object();
}

/// f(key, field) for all that the driver says.
template <class Info, class F>
void for_each_field(Info& info, F&& f) {
  f("name", info.name);
  f("cc", info.cc);
  f("sm_count", info.sm_count);
  f("max_threads_per_sm", info.max_threads_per_sm);
  f("smem_per_block_optin", info.smem_per_block_optin);
  f("smem_per_sm", info.smem_per_sm);
  f("l2_bytes", info.l2_bytes);
  f("datasheet_gbps", info.datasheet_gbps);
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
  const std::string path = devices_file(/*make=*/false);
  if (path.empty()) return std::nullopt;
  const Json devices = devices_in(path, state);
  const auto found = devices.find(std::to_string(index));
  if (found == devices.end()) return std::nullopt;
  DeviceInfo info;
  info.device = cuda_device(index);
  info.present = true;
  try {
    for_each_field(info, [&](const char* key, auto& field) { found->at(key).get_to(field); });
    return info;
  } catch (const Json::exception&) {
    return std::nullopt;  // as other versions wrote it, or cut off
  }
}

bool remember_device(const DeviceInfo& info, const std::string& state) {
  if (state.empty() || info.device.kind != DeviceKind::kCuda) return false;
  const std::string path = devices_file(/*make=*/true);
  if (path.empty()) return false;
  Json devices = devices_in(path, state);
  Json& entry = devices[std::to_string(info.device.index)] = Json::object();
  for_each_field(info, [&](const char* key, const auto& field) { entry[key] = field; });
  const Json document = {{"state", state}, {"devices", std::move(devices)}};
  const std::string text = document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  return !replace_file(path, text);
}

DeviceInfo describe_here(int index, const std::function<Device()>& find, const std::string& state) {
  // A driver that runs answers at once, and by the variables that it was started with.
  if (cuda::driver_loaded()) return device_info(find());
  if (std::optional<DeviceInfo> known = remembered_device(index, state)) return *std::move(known);
  const DeviceInfo info = device_info(find());
  remember_device(info, state);
  return info;
}

}  // namespace einkorn
