#include "src/cuda/side_streams.h"

#include <algorithm>
#include <mutex>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/cuda/driver.h"
#include "src/cuda/stream.h"

namespace einkorn::cuda {

/// A stream with the events of its leaving and coming back. Never destroyed: the pool lives as long
/// as the process, and the driver takes them with the context.
struct SideStreams::Lane {
  explicit Lane(int on) : device(on) {
    const ContextGuard guard(device);
    check(driver().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "making a side stream");
    check(driver().cuEventCreate(&left, CU_EVENT_DISABLE_TIMING), "making an event");
    check(driver().cuEventCreate(&back, CU_EVENT_DISABLE_TIMING), "making an event");
  }

  int device;
  CUstream stream = nullptr;
  CUevent left = nullptr;
  CUevent back = nullptr;
};

namespace {

struct Pool {
  std::mutex mutex;
  std::vector<std::unique_ptr<SideStreams::Lane>> lanes;
};
Pool& pool() {
  static Pool& instance = *new Pool;
  return instance;
}

/// A free lane of the device. One that took part in a capture belongs to that until it ends.
std::unique_ptr<SideStreams::Lane> take(int device) {
  Pool& shared = pool();
  const std::lock_guard lock(shared.mutex);
  const auto found = std::ranges::find_if(shared.lanes, [&](const auto& lane) {
    return lane->device == device && !is_capturing(Stream::cuda(device, lane->stream));
  });
  if (found == shared.lanes.end()) return std::make_unique<SideStreams::Lane>(device);
  std::unique_ptr<SideStreams::Lane> lane = std::move(*found);
  shared.lanes.erase(found);
  return lane;
}

void give_back(std::vector<std::unique_ptr<SideStreams::Lane>>& lanes) {
  Pool& shared = pool();
  const std::lock_guard lock(shared.mutex);
  std::ranges::move(lanes, std::back_inserter(shared.lanes));
  lanes.clear();
}

}  // namespace

SideStreams::SideStreams(std::size_t count, Stream main) : main_(main) {
  const CUstream handle = native(main);
  const ContextGuard guard(main.device.index);
  lanes_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    lanes_.push_back(take(main.device.index));
    const Lane& lane = *lanes_.back();
    check(driver().cuEventRecord(lane.left, handle), "leaving a stream");
    check(driver().cuStreamWaitEvent(lane.stream, lane.left, 0), "leaving a stream");
  }
}

SideStreams::~SideStreams() {
  try {
    if (!joined_) join();
  } catch (const Error&) {
    // An error is on its way already, or the context is lost: the lanes are not used again.
    for (auto& lane : lanes_) {
      [[maybe_unused]] const Lane* left_alone = lane.release();
    }
    return;
  }
  give_back(lanes_);
}

Stream SideStreams::operator[](std::size_t index) const {
  return Stream::cuda(main_.device.index, lanes_.at(index)->stream);
}

void SideStreams::join() {
  joined_ = true;
  const CUstream handle = native(main_);
  const ContextGuard guard(main_.device.index);
  for (const auto& lane : lanes_) {
    check(driver().cuEventRecord(lane->back, lane->stream), "coming back to a stream");
    check(driver().cuStreamWaitEvent(handle, lane->back, 0), "coming back to a stream");
  }
}

}  // namespace einkorn::cuda
