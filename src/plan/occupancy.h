#pragma once

#include <cstdint>

#include <einkorn/device.h>

namespace einkorn {

/// What a launch takes of a multiprocessor.
struct BlockNeeds {
  int threads = 0;
  int registers = 0;      ///< a thread
  std::int64_t smem = 0;  ///< bytes, static and dynamic
};

/// Blocks that a multiprocessor holds at once; 0: not one, or the device's limits are not known.
int resident_blocks(const BlockNeeds& needs, const DeviceInfo& device);

/// Resident warps over the most that the multiprocessor can hold, 0 to 1.
double occupancy(const BlockNeeds& needs, const DeviceInfo& device);

}  // namespace einkorn
