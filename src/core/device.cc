#include <einkorn/device.h>

#include <charconv>

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn {

std::string to_string(Device device) {
  if (device.kind == DeviceKind::kCpu) return "cpu";
  return fmt::format("cuda:{}", device.index);
}

Device parse_device(std::string_view text) {
  if (text == "cpu") return kCpuDevice;
  if (text == "cuda") return cuda_device(0);
  constexpr std::string_view kPrefix = "cuda:";
  if (text.starts_with(kPrefix)) {
    const std::string_view digits = text.substr(kPrefix.size());
    int index = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (status == std::errc() && end == digits.data() + digits.size() && index >= 0) {
      return cuda_device(index);
    }
  }
  throw_error(ErrorKind::kValue,
              fmt::format("device: expected cpu, cuda or cuda:<index>, got \"{}\"", text));
}

DLDevice to_dlpack(Device device) {
  return {device.kind == DeviceKind::kCpu ? kDLCPU : kDLCUDA, device.index};
}

Device from_dlpack(DLDevice device) {
  switch (device.device_type) {
    case kDLCPU:
    case kDLCUDAHost:
      return kCpuDevice;
    case kDLCUDA:
    case kDLCUDAManaged:
      EK_CHECK(device.device_id >= 0, ErrorKind::kValue,
               fmt::format("device index: expected at least 0, got {}", device.device_id));
      return cuda_device(device.device_id);
    default:
      throw_error(ErrorKind::kType,
                  fmt::format("device: expected a CPU or CUDA device, got DLPack device type {}\n"
                              "  hint: move the tensor to the CPU or to a CUDA device first",
                              static_cast<int>(device.device_type)));
  }
}

}  // namespace einkorn
