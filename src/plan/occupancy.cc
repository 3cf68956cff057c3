// Occupancy as the CUDA C++ Programming Guide counts it (technical specifications per compute
// capability): warps, registers, shared memory and blocks of one multiprocessor.

#include "src/plan/occupancy.h"

#include <algorithm>

namespace einkorn {
namespace {

constexpr int kWarp = 32;
constexpr int kQuarters = 4;  // each with its own registers and scheduler
constexpr int kQuarterRegisters = 16384;
constexpr int kRegisterUnit = 256;          // a warp's registers are given out by
constexpr std::int64_t kSystemSmem = 1024;  // bytes a block, for the system
constexpr std::int64_t kSmemUnit = 128;     // bytes

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::int64_t most_blocks(int cc) {
  if (cc == 86 || cc == 87) return 16;
  if (cc == 89 || cc >= 120) return 24;
  return 32;
}

}  // namespace

int resident_blocks(const BlockNeeds& needs, const DeviceInfo& device) {
  if (needs.threads <= 0 || device.max_threads_per_sm <= 0) return 0;
  const std::int64_t warps = round_up(needs.threads, kWarp) / kWarp;
  std::int64_t blocks = std::min(most_blocks(device.cc), device.max_threads_per_sm / kWarp / warps);
  if (needs.registers > 0) {
    const std::int64_t of_warp = round_up(std::int64_t{needs.registers} * kWarp, kRegisterUnit);
    blocks = std::min(blocks, kQuarterRegisters / of_warp * kQuarters / warps);
  }
  if (device.smem_per_sm > 0) {
    blocks = std::min(blocks, device.smem_per_sm / round_up(needs.smem + kSystemSmem, kSmemUnit));
  }
  return static_cast<int>(blocks);
}

double occupancy(const BlockNeeds& needs, const DeviceInfo& device) {
  const int blocks = resident_blocks(needs, device);
  if (blocks == 0) return 0;
  const auto warps = round_up(needs.threads, kWarp) / kWarp;
  const int most = device.max_threads_per_sm / kWarp;
  return static_cast<double>(blocks * warps) / static_cast<double>(most);
}

}  // namespace einkorn
