#include "src/cuda/stream.h"

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/cuda/driver.h"

namespace einkorn::cuda {
namespace {

// Handles are destroyed without a check: it fails only when the driver is being torn down.
void destroy_stream(void* stream) { driver().cuStreamDestroy_v2(static_cast<CUstream>(stream)); }
void destroy_event(void* event) { driver().cuEventDestroy_v2(static_cast<CUevent>(event)); }

CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

}  // namespace

CUstream native(Stream stream) {
  EK_CHECK(stream.device.kind == DeviceKind::kCuda, ErrorKind::kValue,
           fmt::format("stream: expected a CUDA stream, got one of {}", to_string(stream.device)));
  return static_cast<CUstream>(stream.handle);
}

OwnedStream::OwnedStream(int device) {
  const ContextGuard guard(device);
  CUstream stream = nullptr;
  check(driver().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING),
        [&] { return fmt::format("making a stream on cuda:{}", device); });
  owner_ = std::shared_ptr<void>(stream, destroy_stream);
  stream_ = Stream::cuda(device, stream);
}

void OwnedStream::synchronize() const { cuda::synchronize(stream_); }

void synchronize(Stream stream) {
  const CUstream handle = native(stream);
  const ContextGuard guard(stream.device.index);
  check(driver().cuStreamSynchronize(handle),
        [&] { return fmt::format("waiting for a stream of {}", to_string(stream.device)); });
}

bool is_capturing(Stream stream) {
  const CUstream handle = native(stream);
  const ContextGuard guard(stream.device.index);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = driver().cuStreamIsCapturing(handle, &status);
  // The legacy default stream answers so while another stream of the context is being captured.
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) return false;
  check(result, "asking whether a stream is capturing");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

Event::Event(int device) : device_(device) {
  const ContextGuard guard(device);
  CUevent event = nullptr;
  check(driver().cuEventCreate(&event, CU_EVENT_DEFAULT),
        [&] { return fmt::format("making an event on cuda:{}", device); });
  handle_ = std::shared_ptr<void>(event, destroy_event);
}

void Event::record(Stream stream) {
  const CUstream handle = native(stream);
  EK_CHECK(stream.device.index == device_, ErrorKind::kValue,
           fmt::format("event: expected a stream of cuda:{}, got one of {}", device_,
                       to_string(stream.device)));
  const ContextGuard guard(device_);
  check(driver().cuEventRecord(static_cast<CUevent>(handle_.get()), handle),
        [&] { return fmt::format("recording an event on cuda:{}", device_); });
}

void Event::synchronize() const {
  check(driver().cuEventSynchronize(static_cast<CUevent>(handle_.get())),
        [&] { return fmt::format("waiting for an event of cuda:{}", device_); });
}

float Event::elapsed_ms_since(const Event& start) const {
  float milliseconds = 0;
  check(driver().cuEventElapsedTime_v1(&milliseconds, static_cast<CUevent>(start.handle_.get()),
                                       static_cast<CUevent>(handle_.get())),
        [&] { return fmt::format("reading the time between two events of cuda:{}", device_); });
  return milliseconds;
}

void copy_async(void* destination, const void* source, std::size_t bytes, Stream stream) {
  const CUstream handle = native(stream);
  if (bytes == 0) return;
  const ContextGuard guard(stream.device.index);
  check(driver().cuMemcpyAsync(address(destination), address(source), bytes, handle), [&] {
    return fmt::format("queueing a copy of {} bytes on {}", bytes, to_string(stream.device));
  });
}

void fill_async(void* destination, std::uint8_t value, std::size_t bytes, Stream stream) {
  const CUstream handle = native(stream);
  if (bytes == 0) return;
  const ContextGuard guard(stream.device.index);
  check(driver().cuMemsetD8Async(address(destination), value, bytes, handle), [&] {
    return fmt::format("queueing a fill of {} bytes on {}", bytes, to_string(stream.device));
  });
}

}  // namespace einkorn::cuda
