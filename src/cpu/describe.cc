#include "src/cpu/describe.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <oneapi/tbb/info.h>

namespace einkorn::cpu {
namespace {

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1));
}

/// "model name" is x86's key; AArch64 kernels tell no name at all.
std::string model_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = trimmed(std::string_view(line).substr(0, colon));
    if (key == "model name" || key == "Model") {
      return trimmed(std::string_view(line).substr(colon + 1));
    }
  }
#if defined(__aarch64__)
  return "AArch64 CPU";
#else
  return "unknown";
#endif
}

/// "480M", "2048K" as bytes; 0 when it is nothing of the kind.
std::int64_t parse_size(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0 || value > (std::int64_t{1} << 40)) return 0;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (unit == "K") return value << 10;
  if (unit == "M") return value << 20;
  return unit.empty() ? value : 0;
}

/// The largest cache of CPU 0; caches of one CPU are nested, so that is the last level.
std::int64_t last_level_cache() {
  std::int64_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
    std::string text;
    if (std::getline(file, text)) largest = std::max(largest, parse_size(trimmed(text)));
  }
#if defined(_SC_LEVEL3_CACHE_SIZE)
  if (largest == 0) largest = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), 0L);
#endif
  return largest;
}

}  // namespace

double cached_bytes(const DeviceInfo& device) {
  constexpr double kBytesPerThread = 8 << 20;
  return std::min(static_cast<double>(device.l2_bytes), kBytesPerThread * device.sm_count);
}

DeviceInfo describe() {
  DeviceInfo info;
  info.device = kCpuDevice;
  info.name = model_name();
  info.present = true;
  info.sm_count = tbb::info::default_concurrency();
  info.max_threads_per_sm = 1;
  info.l2_bytes = last_level_cache();
  return info;
}

}  // namespace einkorn::cpu
