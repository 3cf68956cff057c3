#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <einkorn/registry.h>
#include <fmt/format.h>

#include "src/cpu/describe.h"

namespace einkorn {

const DeviceInfo& cpu_info() {
  static const DeviceInfo kInfo = cpu::describe();
  return kInfo;
}

const DeviceInfo& device_info(Device device) {
  return device.kind == DeviceKind::kCpu ? cpu_info() : cuda::device_info(device.index);
}

DeviceInfo find_device_info(std::string_view name) {
  if (name == "cpu") return cpu_info();
  if (name.starts_with("cuda")) return device_info(parse_device(name));
  return cuda::known_device(name);
}

Device best_device() { return cuda::available() ? cuda_device(0) : kCpuDevice; }

Availability availability(const Variant& variant) {
  const Arch& arch = find_arch(variant.arch);
  if (arch.kind != DeviceKind::kCuda) return {true, {}};
  std::string reason;
  if (!cuda::available(&reason)) return {false, reason};
  for (int index = 0; index < cuda::device_count(); ++index) {
    const int cc = cuda::device_info(index).cc;
    if (cc >= arch.min_cc && cc <= arch.max_cc) return {true, {}};
  }
  return {false, fmt::format("no device of arch {} here ({})", arch.name, arch.summary)};
}

}  // namespace einkorn
