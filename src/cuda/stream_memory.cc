#include "src/cuda/stream_memory.h"

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/cuda/driver.h"
#include "src/cuda/stream.h"

namespace einkorn::cuda {

StreamMemory::StreamMemory(std::size_t bytes, Stream stream) : stream_(stream) {
  if (bytes == 0) return;
  const CUstream handle = native(stream);
  const ContextGuard guard(stream.device.index);
  CUdeviceptr data = 0;
  check(driver().cuMemAllocAsync(&data, bytes, handle), [&] {
    return fmt::format("taking {} bytes of workspace on {}", bytes, to_string(stream.device));
  });
  data_ = reinterpret_cast<std::byte*>(data);  // NOLINT(performance-no-int-to-ptr): CUdeviceptr
}

StreamMemory::~StreamMemory() {
  if (data_ == nullptr) return;
  try {
    const ContextGuard guard(stream_.device.index);
    // Fails only when the context is lost, and its memory with it.
    driver().cuMemFreeAsync(reinterpret_cast<CUdeviceptr>(data_), native(stream_));
  } catch (const Error&) {
    return;  // no context can be had any more
  }
}

}  // namespace einkorn::cuda
