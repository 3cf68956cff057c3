#pragma once

#include <cstddef>
#include <cstdint>

#include <einkorn/device.h>

namespace einkorn {

/// Memory of one kind of device. The CPU's is built in; a backend registers its own, so that core
/// links to no driver. Called from any thread.
class Allocator {
 public:
  /// At least `bytes` bytes (0 included), aligned to 256 bytes, never null. RuntimeError when the
  /// memory is not to be had.
  virtual void* allocate(std::size_t bytes, int device_index) = 0;
  virtual void deallocate(void* data, int device_index) noexcept = 0;

  /// Copies between any two devices of which at least one is of this kind, or one is the CPU;
  /// returns when the bytes are there. `bytes` is positive.
  virtual void copy(void* destination, Device destination_device, const void* source,
                    Device source_device, std::size_t bytes) = 0;

  /// Sets every byte; returns when done.
  virtual void fill(void* data, std::uint8_t value, std::size_t bytes, int device_index) = 0;

 protected:
  // Registered allocators live until the process ends: nobody deletes through this type.
  ~Allocator() = default;
};

/// Replaces the allocator of a kind. It has to live until the process ends; tensors made before
/// give their memory back to the one that made them. Null unregisters.
void set_allocator(DeviceKind kind, Allocator* allocator);

/// Called once, when memory of a kind is first asked for and no allocator is registered; expected
/// to call set_allocator, or to throw why it cannot (then it is called again the next time).
using BackendInit = void (*)();
void set_backend_init(DeviceKind kind, BackendInit init);

namespace detail {
/// The built-in choice for CUDA. Declared here and defined by the cuda layer: core names no driver,
/// and a static initialiser in a static library would be dropped by the linker.
void init_cuda_memory();
}  // namespace detail

/// The same, giving back what was registered, so that it can be restored.
Allocator* exchange_allocator(DeviceKind kind, Allocator* allocator);
BackendInit exchange_backend_init(DeviceKind kind, BackendInit init);

/// RuntimeError when none is registered for the kind.
Allocator& allocator(DeviceKind kind);

}  // namespace einkorn
