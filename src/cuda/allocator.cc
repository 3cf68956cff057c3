#include "src/cuda/allocator.h"

#include <algorithm>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/allocator.h"
#include "src/cuda/driver.h"

namespace einkorn::cuda {
namespace {

CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

/// Plain synchronous memory: tensors that einkorn makes are inputs of tests and benchmarks, never
/// part of a call's hot path.
class DeviceAllocator final : public Allocator {
 public:
  void* allocate(std::size_t bytes, int device) override {
    const ContextGuard guard(device);
    CUdeviceptr data = 0;
    // cuMemAlloc refuses 0 bytes; what it gives is aligned to at least 256 (programming guide).
    const CUresult result = driver().cuMemAlloc_v2(&data, std::max<std::size_t>(bytes, 1));
    check(result, [&] { return fmt::format("allocating {} bytes on cuda:{}", bytes, device); });
    return reinterpret_cast<void*>(data);  // NOLINT(performance-no-int-to-ptr): CUdeviceptr
  }

  void deallocate(void* data, int device) noexcept override {
    try {
      const ContextGuard guard(device);
      // Waits for work that may still use the memory. Fails only when the context is lost, and its
      // memory with it.
      driver().cuMemFree_v2(address(data));
    } catch (const Error&) {
      // No context can be had any more: the driver has taken the memory back with it.
      return;
    }
  }

  void copy(void* destination, Device destination_device, const void* source, Device source_device,
            std::size_t bytes) override {
    const Device on =
        destination_device.kind == DeviceKind::kCuda ? destination_device : source_device;
    const ContextGuard guard(on.index);
    // Unified addressing tells the driver where each pointer lives, other devices included. The
    // legacy default stream, which this uses, does not wait for non-blocking streams: the caller
    // synchronises those.
    check(driver().cuMemcpy(address(destination), address(source), bytes), [&] {
      return fmt::format("copying {} bytes from {} to {}", bytes, to_string(source_device),
                         to_string(destination_device));
    });
    settle(on.index);
  }

  void fill(void* data, std::uint8_t value, std::size_t bytes, int device) override {
    const ContextGuard guard(device);
    check(driver().cuMemsetD8_v2(address(data), value, bytes),
          [&] { return fmt::format("filling {} bytes on cuda:{}", bytes, device); });
    settle(device);
  }

 private:
  // Device-to-device copies and fills return before they are done.
  static void settle(int device) {
    check(driver().cuStreamSynchronize(nullptr),
          [&] { return fmt::format("waiting for memory of cuda:{}", device); });
  }
};

}  // namespace

void register_allocator() {
  driver();  // raises why there is none, before anything is registered
  // Never destroyed: tensors may outlive static destructors.
  static DeviceAllocator& instance = *new DeviceAllocator;
  set_allocator(DeviceKind::kCuda, &instance);
}

}  // namespace einkorn::cuda

void einkorn::detail::init_cuda_memory() { cuda::register_allocator(); }
