#include "src/cuda/known_devices.h"

#include <array>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace einkorn::cuda {
namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;

struct KnownDevice {
  std::string_view name;   // what a user types
  std::string_view title;  // what the driver, or the datasheet, calls it
  int cc;
  int sm_count;
  int max_threads_per_sm;
  std::int64_t smem_per_block_optin;
  std::int64_t smem_per_sm;
  std::int64_t l2_bytes;
  double gbps;
};

// SM counts, L2 and bandwidth: NVIDIA's datasheets and architecture white papers (A100, H100, Ada,
// Blackwell RTX; HGX pages for H200 and B200). Shared memory and threads per SM: CUDA C++
// Programming Guide, technical specifications per compute capability.
constexpr std::array kKnownDevices = {
    KnownDevice{"a100", "NVIDIA A100-SXM4-80GB", 80, 108, 2048, 163 * kKiB, 164 * kKiB, 40 * kMiB,
                2039},
    KnownDevice{"h100", "NVIDIA H100 80GB HBM3", 90, 132, 2048, 227 * kKiB, 228 * kKiB, 50 * kMiB,
                3350},
    KnownDevice{"h200", "NVIDIA H200", 90, 132, 2048, 227 * kKiB, 228 * kKiB, 50 * kMiB, 4800},
    KnownDevice{"b200", "NVIDIA B200", 100, 148, 2048, 227 * kKiB, 228 * kKiB, 126 * kMiB, 8000},
    KnownDevice{"l40s", "NVIDIA L40S", 89, 142, 1536, 99 * kKiB, 100 * kKiB, 96 * kMiB, 864},
    KnownDevice{"rtx4090", "NVIDIA GeForce RTX 4090", 89, 128, 1536, 99 * kKiB, 100 * kKiB,
                72 * kMiB, 1008},
    KnownDevice{"rtx5090", "NVIDIA GeForce RTX 5090", 120, 170, 1536, 99 * kKiB, 100 * kKiB,
                96 * kMiB, 1792},
    // Plain capabilities: the size of their usual data-centre (or largest) chip, bandwidth unknown.
    KnownDevice{"sm_80", "sm_80", 80, 108, 2048, 163 * kKiB, 164 * kKiB, 40 * kMiB, 0},
    KnownDevice{"sm_86", "sm_86", 86, 84, 1536, 99 * kKiB, 100 * kKiB, 6 * kMiB, 0},
    KnownDevice{"sm_89", "sm_89", 89, 142, 1536, 99 * kKiB, 100 * kKiB, 96 * kMiB, 0},
    KnownDevice{"sm_90", "sm_90", 90, 132, 2048, 227 * kKiB, 228 * kKiB, 50 * kMiB, 0},
    KnownDevice{"sm_100", "sm_100", 100, 148, 2048, 227 * kKiB, 228 * kKiB, 126 * kMiB, 0},
    KnownDevice{"sm_103", "sm_103", 103, 148, 2048, 227 * kKiB, 228 * kKiB, 126 * kMiB, 0},
    KnownDevice{"sm_120", "sm_120", 120, 170, 1536, 99 * kKiB, 100 * kKiB, 96 * kMiB, 0},
};

constexpr auto kNames = [] {
  std::array<std::string_view, kKnownDevices.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kKnownDevices[i].name;
  return names;
}();

}  // namespace

double datasheet_gbps_of(std::string_view driver_name) {
  for (const KnownDevice& known : kKnownDevices) {
    if (known.title == driver_name) return known.gbps;
  }
  return 0;
}

std::span<const std::string_view> known_device_names() { return kNames; }

DeviceInfo known_device(std::string_view name) {
  for (const KnownDevice& known : kKnownDevices) {
    if (known.name != name) continue;
    DeviceInfo info;
    info.device = cuda_device(0);
    info.name = known.title;
    info.present = false;
    info.cc = known.cc;
    info.sm_count = known.sm_count;
    info.max_threads_per_sm = known.max_threads_per_sm;
    info.smem_per_block_optin = known.smem_per_block_optin;
    info.smem_per_sm = known.smem_per_sm;
    info.l2_bytes = known.l2_bytes;
    info.datasheet_gbps = known.gbps;
    return info;
  }
  throw_error(ErrorKind::kValue,
              fmt::format("device: expected one of {}; got \"{}\"", fmt::join(kNames, ", "), name));
}

}  // namespace einkorn::cuda
