#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <dlpack/dlpack.h>

namespace einkorn {

enum class DeviceKind : std::uint8_t { kCpu, kCuda };

/// A place where tensors live: "cpu", "cuda:1".
struct Device {
  DeviceKind kind = DeviceKind::kCpu;
  int index = 0;

  auto operator<=>(const Device&) const = default;
};

inline constexpr Device kCpuDevice{};
constexpr Device cuda_device(int index) { return {DeviceKind::kCuda, index}; }

std::string to_string(Device device);

/// "cpu", "cuda" (index 0) or "cuda:N"; anything else is a ValueError.
Device parse_device(std::string_view text);

DLDevice to_dlpack(Device device);

/// Pinned and managed host memory count as what they are reached from: kDLCUDAHost is the CPU,
/// kDLCUDAManaged the GPU. Any other device type is a TypeError.
Device from_dlpack(DLDevice device);

/// Where a call's work is queued. For the CPU the handle is unused: work is done on return.
/// For CUDA it is a `CUstream` / `cudaStream_t`; the null handle is the legacy default stream, and
/// has to be asked for by name.
struct Stream {
  Device device;
  void* handle = nullptr;

  static Stream cpu() { return {}; }
  static Stream cuda(int index, void* handle) { return {cuda_device(index), handle}; }
  static Stream cuda_legacy_default(int index) { return {cuda_device(index), nullptr}; }
};

/// What a variant may ask about the device it would run on. Also filled for devices that are not
/// here, from a table, so that `explain` and prediction need no hardware.
struct DeviceInfo {
  Device device;
  std::string name;      ///< e.g. "NVIDIA H100 80GB HBM3", or the CPU's model name
  bool present = false;  ///< false: described from the table, nothing can run
  int cc = 0;            ///< CUDA compute capability as 10*major+minor, e.g. 90; 0 on a CPU
  int sm_count = 0;      ///< multiprocessors, or hardware threads on a CPU
  int max_threads_per_sm = 0;
  std::int64_t smem_per_block_optin = 0;  ///< bytes
  std::int64_t smem_per_sm = 0;           ///< bytes
  std::int64_t l2_bytes = 0;              ///< last-level cache, bytes
  double datasheet_gbps = 0;              ///< memory bandwidth by datasheet, 1e9 bytes/s; 0 unknown
};

}  // namespace einkorn
