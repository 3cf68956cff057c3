#include "src/core/allocator.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn {
namespace {

constexpr std::size_t kAlignment = 256;  // bytes: what Tensor promises, and what CUDA gives

class CpuAllocator final : public Allocator {
 public:
  void* allocate(std::size_t bytes, int) override {
    // Linux grants more than there is and kills the process on first touch, so ask beforehand.
    static const std::size_t kMachine = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                                        static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    EK_CHECK(bytes <= kMachine, ErrorKind::kRuntime,
             fmt::format("memory: expected at most {} bytes on the cpu, got a request for {}\n"
                         "  hint: that is all the memory of this machine",
                         kMachine, bytes));
    const std::size_t rounded = (bytes / kAlignment + 1) * kAlignment;
    void* data = std::aligned_alloc(kAlignment, rounded);
    EK_CHECK(data != nullptr, ErrorKind::kRuntime,
             fmt::format("memory: expected {} bytes on the cpu, got none", bytes));
    return data;
  }
  void deallocate(void* data, int) noexcept override { std::free(data); }
  void copy(void* destination, Device, const void* source, Device, std::size_t bytes) override {
    std::memmove(destination, source, bytes);
  }
  void fill(void* data, std::uint8_t value, std::size_t bytes, int) override {
    std::memset(data, value, bytes);
  }
};

constexpr std::size_t kKinds = 2;

struct Slots {
  CpuAllocator cpu;
  std::array<std::atomic<Allocator*>, kKinds> allocators{&cpu, nullptr};
  std::array<std::atomic<BackendInit>, kKinds> inits{nullptr, &detail::init_cuda_memory};
  std::mutex init_mutex;
};

/// Never destroyed: tensors may outlive static destructors.
Slots& slots() {
  static Slots& instance = *new Slots;
  return instance;
}

}  // namespace

void set_allocator(DeviceKind kind, Allocator* allocator) { exchange_allocator(kind, allocator); }

void set_backend_init(DeviceKind kind, BackendInit init) { exchange_backend_init(kind, init); }

Allocator* exchange_allocator(DeviceKind kind, Allocator* allocator) {
  return slots().allocators[static_cast<std::size_t>(kind)].exchange(allocator,
                                                                     std::memory_order_acq_rel);
}

BackendInit exchange_backend_init(DeviceKind kind, BackendInit init) {
  return slots().inits[static_cast<std::size_t>(kind)].exchange(init, std::memory_order_acq_rel);
}

Allocator& allocator(DeviceKind kind) {
  Slots& all = slots();
  const auto index = static_cast<std::size_t>(kind);
  Allocator* found = all.allocators[index].load(std::memory_order_acquire);
  if (found != nullptr) return *found;

  const std::lock_guard lock(all.init_mutex);
  found = all.allocators[index].load(std::memory_order_acquire);  // another thread may have won
  if (found == nullptr) {
    if (const BackendInit init = all.inits[index].load(std::memory_order_acquire)) init();
    found = all.allocators[index].load(std::memory_order_acquire);
  }
  EK_CHECK(found != nullptr, ErrorKind::kRuntime,
           fmt::format("{} memory: expected a registered allocator, got none\n"
                       "  hint: this process has no {} backend; see `einkorn doctor`",
                       kind == DeviceKind::kCpu ? "cpu" : "cuda",
                       kind == DeviceKind::kCpu ? "CPU" : "CUDA"));
  return *found;
}

}  // namespace einkorn
