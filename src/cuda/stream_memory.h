#pragma once

#include <cstddef>

#include <einkorn/device.h>

namespace einkorn::cuda {

/// Memory from the device's own pool in the order of a stream: taken and given back by work that is
/// queued, so that nothing waits, and recorded in a graph when the stream is capturing.
class StreamMemory {
 public:
  /// RuntimeError when the memory is not to be had. 0 bytes take nothing.
  StreamMemory(std::size_t bytes, Stream stream);
  ~StreamMemory();
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;

  /// Aligned to at least 256 bytes; null for 0 bytes.
  std::byte* data() const { return data_; }

 private:
  Stream stream_;
  std::byte* data_ = nullptr;
};

}  // namespace einkorn::cuda
