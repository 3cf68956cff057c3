#include <array>
#include <atomic>
#include <mutex>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/cuda/driver.h"
#include "src/cuda/known_devices.h"

namespace einkorn::cuda {
namespace {

int attribute(CUdevice_attribute which, int device) {
  int value = 0;
  check(driver().cuDeviceGetAttribute(&value, which, device),
        fmt::format("reading an attribute of cuda:{}", device));
  return value;
}

/// Two transfers a clock on a bus of so many bits: what datasheets quote, to within rounding.
double bandwidth_from_clocks(int device) {
  const double khz = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device);
  const double bits = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device);
  return 2 * khz * 1e3 * bits / 8 / 1e9;
}

DeviceInfo read_device_info(int device) {
  std::array<char, 256> text{};
  check(driver().cuDeviceGetName(text.data(), static_cast<int>(text.size()), device),
        fmt::format("reading the name of cuda:{}", device));
  DeviceInfo info;
  info.device = cuda_device(device);
  info.name = text.data();
  info.present = true;
  info.cc = 10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) +
            attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  info.sm_count = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  info.max_threads_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, device);
  info.smem_per_block_optin =
      attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
  info.smem_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, device);
  info.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device);
  info.datasheet_gbps = datasheet_gbps_of(info.name);
  if (info.datasheet_gbps == 0) info.datasheet_gbps = bandwidth_from_clocks(device);
  return info;
}

struct InfoCache {
  explicit InfoCache(int devices)
      : slots(
            std::make_unique<std::atomic<const DeviceInfo*>[]>(static_cast<std::size_t>(devices))) {
  }
  std::unique_ptr<std::atomic<const DeviceInfo*>[]> slots;
  std::vector<std::unique_ptr<DeviceInfo>> owned;
  std::mutex mutex;
};

InfoCache& info_cache() {
  static InfoCache instance(driver().devices);
  return instance;
}

}  // namespace

bool available(std::string* reason) {
  try {
    if (driver().devices > 0) return true;
    if (reason != nullptr) *reason = "cuda: the driver shows no device";
  } catch (const Error& error) {
    if (reason != nullptr) *reason = error.what();
  }
  return false;
}

int device_count() { return available() ? driver().devices : 0; }

const DeviceInfo& device_info(int index) {
  check_device_index(index);
  InfoCache& cache = info_cache();
  std::atomic<const DeviceInfo*>& slot = cache.slots[static_cast<std::size_t>(index)];
  if (const DeviceInfo* info = slot.load(std::memory_order_acquire)) return *info;
  const std::lock_guard lock(cache.mutex);
  if (const DeviceInfo* info = slot.load(std::memory_order_relaxed)) return *info;
  cache.owned.push_back(std::make_unique<DeviceInfo>(read_device_info(index)));
  slot.store(cache.owned.back().get(), std::memory_order_release);
  return *cache.owned.back();
}

ContextGuard::ContextGuard(int device) {
  const Driver& d = driver();
  // Asked in two steps: without a current context the second call would be an error, which tools
  // that watch the driver report.
  CUcontext context = nullptr;
  check(d.cuCtxGetCurrent(&context), "asking for the current context");
  CUdevice current = -1;
  if (context != nullptr && d.cuCtxGetDevice(&current) == CUDA_SUCCESS && current == device) return;
  check(d.cuCtxPushCurrent_v2(primary_context(device)),
        fmt::format("making cuda:{} current", device));
  pushed_ = true;
}

ContextGuard::~ContextGuard() {
  if (!pushed_) return;
  CUcontext popped = nullptr;
  // Fails only while the process is being torn down, when nothing is left to restore.
  driver().cuCtxPopCurrent_v2(&popped);
}

}  // namespace einkorn::cuda
