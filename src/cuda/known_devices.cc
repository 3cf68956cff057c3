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

// SM counts, L2, bandwidth and arithmetic without sparsity: NVIDIA's datasheets and architecture
// white papers (A100, H100, Ada, Blackwell RTX; HGX pages for H200 and B200, whose figures are
// halved where they count sparsity). Shared memory and threads per SM: CUDA C++ Programming Guide,
// technical specifications per compute capability.
constexpr UnitRates kH100Rates{67, 67, 494.7, 989.4, 1978.9, 1978.9};
constexpr std::array kKnownDevices = {
    KnownDevice{"a100",
                "NVIDIA A100-SXM4-80GB",
                80,
                108,
                2048,
                163 * kKiB,
                164 * kKiB,
                40 * kMiB,
                2039,
                {19.5, 19.5, 156, 312, 0, 624}},
    // The copies of 34 MB to 1.4 GB in those files take 1.57 us and their bytes at 3044 GB/s, each
    // within 0.3 %.
    KnownDevice{"h100",
                "NVIDIA H100 80GB HBM3",
                90,
                132,
                2048,
                227 * kKiB,
                228 * kKiB,
                50 * kMiB,
                3350,
                kH100Rates,
                {3044,
                 {},
                 1.57,
                 "measured 2026-11-28, driver 580.159.04: copies in bench/results/*-h100.json"}},
    KnownDevice{"h100_pcie",
                "NVIDIA H100 PCIe",
                90,
                114,
                2048,
                227 * kKiB,
                228 * kKiB,
                50 * kMiB,
                2039,
                {51, 51, 378, 756, 1513, 1513}},
    // Measured 2026-11-27 on an H200, driver 580, CUDA 13.0. Graph replays of copies of 67, 268 and
    // 537 MB take 17.3, 64.1 and 126.3 us: 1.72 us and the bytes at 4307 GB/s, within 0.1 % (one of
    // 2 GiB timed without a graph: 4228). Products of 8192 x 8192 by cuBLAS through torch 2.11:
    // bf16, fp8, int8.
    KnownDevice{
        "h200",
        "NVIDIA H200",
        90,
        132,
        2048,
        227 * kKiB,
        228 * kKiB,
        50 * kMiB,
        4800,
        kH100Rates,
        {4307, {0, 0, 0, 708, 1352, 908}, 1.72, "measured 2026-11-27, driver 580, CUDA 13.0"}},
    KnownDevice{"b200",
                "NVIDIA B200",
                100,
                148,
                2048,
                227 * kKiB,
                228 * kKiB,
                126 * kMiB,
                8000,
                {75, 37, 1125, 2250, 4500, 4500}},
    KnownDevice{"l40s",
                "NVIDIA L40S",
                89,
                142,
                1536,
                99 * kKiB,
                100 * kKiB,
                96 * kMiB,
                864,
                {91.6, 1.4, 183, 362, 733, 733}},
    KnownDevice{"rtx4090",
                "NVIDIA GeForce RTX 4090",
                89,
                128,
                1536,
                99 * kKiB,
                100 * kKiB,
                72 * kMiB,
                1008,
                {82.6, 1.3, 82.6, 165.2, 330.3, 660.6}},
    KnownDevice{"rtx5090",
                "NVIDIA GeForce RTX 5090",
                120,
                170,
                1536,
                99 * kKiB,
                100 * kKiB,
                96 * kMiB,
                1792,
                {104.8, 1.6, 104.8, 209.5, 419, 838}},
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

const KnownDevice* find_known_device(std::string_view title) {
  for (const KnownDevice& known : kKnownDevices) {
    if (known.title == title) return &known;
  }
  return nullptr;
}

double datasheet_gbps_of(std::string_view driver_name) {
  const KnownDevice* known = find_known_device(driver_name);
  return known == nullptr ? 0 : known->gbps;
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
