// Launching: the hot path of every call. Its cost over a bare cuLaunchKernelEx is one
// cuCtxGetCurrent, a few compares and the attributes on the stack.

#include <algorithm>
#include <array>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/cuda/driver.h"
#include "src/cuda/launch_limits.h"
#include "src/cuda/module.h"
#include "src/cuda/stream.h"

namespace einkorn::cuda {
namespace {

// Limits that all devices of compute capability 8.0 and newer share: CUDA C++ Programming Guide,
// technical specifications per compute capability.
constexpr std::uint64_t kMaxThreads = 1024;
constexpr std::uint32_t kMaxBlockZ = 64;
constexpr std::uint32_t kMaxGridX = 0x7fffffff;
constexpr std::uint32_t kMaxGridYz = 65535;
constexpr std::int64_t kDefaultSmem = 48 * 1024;  // bytes a block, static and dynamic
constexpr std::uint64_t kPortableCluster = 8;
constexpr std::uint64_t kMaxCluster = 16;

bool is_empty(const Dim3& grid) { return grid.x == 0 || grid.y == 0 || grid.z == 0; }

bool divides(const Dim3& cluster, const Dim3& grid) {
  return grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0;
}

std::string describe(const Dim3& dim) { return fmt::format("{}x{}x{}", dim.x, dim.y, dim.z); }

std::string describe(const Launch& launch) {
  return fmt::format("grid {}, block {}, cluster {}, {} bytes of dynamic shared memory{}{}",
                     describe(launch.grid), describe(launch.block), describe(launch.cluster),
                     launch.smem_bytes, launch.pdl ? ", pdl" : "",
                     launch.cooperative ? ", cooperative" : "");
}

[[noreturn]] void refuse(const std::string& kernel, const Launch& launch, std::string_view limit) {
  throw_error(ErrorKind::kValue,
              fmt::format("kernel {}: {}\n  launch: {}", kernel, limit, describe(launch)));
}

/// The products of three 32-bit numbers could wrap, so each is bounded first.
bool fits(const Launch& launch) {
  const Dim3& grid = launch.grid;
  const Dim3& block = launch.block;
  const Dim3& cluster = launch.cluster;
  return block.x - 1 < kMaxThreads && block.y - 1 < kMaxThreads && block.z - 1 < kMaxBlockZ &&
         block.count() <= kMaxThreads && grid.x <= kMaxGridX && grid.y <= kMaxGridYz &&
         grid.z <= kMaxGridYz && cluster.x - 1 < kMaxCluster && cluster.y - 1 < kMaxCluster &&
         cluster.z - 1 < kMaxCluster && cluster.count() <= kMaxCluster &&
         (cluster.count() == 1 || divides(cluster, grid));
}

[[noreturn]] void explain_misfit(const std::string& kernel, const Launch& launch) {
  const Dim3& block = launch.block;
  const Dim3& cluster = launch.cluster;
  if (is_empty(block) || block.x > kMaxThreads || block.y > kMaxThreads || block.z > kMaxBlockZ ||
      block.count() > kMaxThreads) {
    refuse(kernel, launch,
           fmt::format("block: expected 1 to {} threads, at most {} of them along z, got {}",
                       kMaxThreads, kMaxBlockZ, describe(block)));
  }
  if (launch.grid.x > kMaxGridX || launch.grid.y > kMaxGridYz || launch.grid.z > kMaxGridYz) {
    refuse(kernel, launch,
           fmt::format("grid: expected x <= {}, y and z <= {}, got {}", kMaxGridX, kMaxGridYz,
                       describe(launch.grid)));
  }
  if (is_empty(cluster) || cluster.x > kMaxCluster || cluster.y > kMaxCluster ||
      cluster.z > kMaxCluster || cluster.count() > kMaxCluster) {
    refuse(kernel, launch,
           fmt::format("cluster: expected 1 to {} blocks, got {}", kMaxCluster, describe(cluster)));
  }
  refuse(kernel, launch,
         fmt::format("cluster: expected a divisor of grid {} in each dimension, "
                     "got {}",
                     describe(launch.grid), describe(cluster)));
}

int attribute(const LoadedKernel& kernel, CUfunction_attribute which, int device) {
  int value = 0;
  check(driver().cuKernelGetAttribute(&value, which, kernel.kernel, device),
        "reading an attribute of a kernel");
  return value;
}

/// Cold: asks for more dynamic shared memory than a kernel gets by default (48 KiB less what it has
/// statically), once for each size that is larger than all before.
void allow_smem(LoadedKernel& kernel, const std::string& name, const Launch& launch, int device) {
  const std::lock_guard lock(kernel.mutex);
  std::atomic<std::uint32_t>& allowed =
      kernel.devices[static_cast<std::size_t>(device)].smem_allowed;
  if (launch.smem_bytes <= allowed.load(std::memory_order_relaxed)) return;
  const std::int64_t fixed = attribute(kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, device);
  std::int64_t granted = attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, device);
  if (granted <= kDefaultSmem) granted = std::min(granted, kDefaultSmem - fixed);
  if (launch.smem_bytes > granted) {
    const DeviceInfo& info = device_info(device);
    if (fixed + launch.smem_bytes > info.smem_per_block_optin) {
      refuse(name, launch,
             fmt::format("shared memory: expected at most {} bytes a block on {} (sm_{}), got {} "
                         "dynamic and {} static",
                         info.smem_per_block_optin, info.name, info.cc, launch.smem_bytes, fixed));
    }
    granted = launch.smem_bytes;
    check(driver().cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                        static_cast<int>(granted), kernel.kernel, device),
          [&] {
            return fmt::format("kernel {}: allowing {} bytes of shared memory", name, granted);
          });
  }
  allowed.store(static_cast<std::uint32_t>(granted), std::memory_order_relaxed);
}

void allow_large_cluster(LoadedKernel& kernel, const std::string& name, int device) {
  const std::lock_guard lock(kernel.mutex);
  check(driver().cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1,
                                      kernel.kernel, device),
        [&] { return fmt::format("kernel {}: allowing clusters of more than 8 blocks", name); });
  kernel.devices[static_cast<std::size_t>(device)].large_cluster.store(true,
                                                                       std::memory_order_relaxed);
}

/// Two relaxed loads when all is granted already, as in every launch after the first.
void make_opt_ins(LoadedKernel& kernel, const std::string& name, const Launch& launch, int device) {
  const LoadedKernel::OnDevice& state = kernel.devices[static_cast<std::size_t>(device)];
  if (launch.smem_bytes > state.smem_allowed.load(std::memory_order_relaxed)) [[unlikely]] {
    allow_smem(kernel, name, launch, device);
  }
  if (launch.cluster.count() > kPortableCluster &&
      !state.large_cluster.load(std::memory_order_relaxed)) [[unlikely]] {
    allow_large_cluster(kernel, name, device);
  }
}

/// Cold: the driver refused. What it means by "invalid value" or "out of resources" is worked out
/// where it can be.
[[noreturn]] void explain_refusal(CUresult result, const LoadedKernel& kernel,
                                  const std::string& name, const Launch& launch, int device) {
  const DeviceInfo& info = device_info(device);
  if (is_lost_device(result)) {
    throw_driver_error(result, fmt::format("kernel {}: launching it on cuda:{}", name, device));
  }
  const auto most = static_cast<std::uint64_t>(
      attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device));
  if (launch.block.count() > most) {
    refuse(
        name, launch,
        fmt::format("block: expected at most {} threads on {} as it takes {} registers a thread, "
                    "or by its launch bounds, got {}",
                    most, info.name, attribute(kernel, CU_FUNC_ATTRIBUTE_NUM_REGS, device),
                    launch.block.count()));
  }
  if (launch.cluster.count() > 1 && info.cc < 90) {
    refuse(name, launch,
           fmt::format("cluster: expected 1x1x1 before sm_90, got {} on {} (sm_{})",
                       describe(launch.cluster), info.name, info.cc));
  }
  if (result == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE) {
    refuse(name, launch,
           fmt::format("grid: expected no more blocks than {} holds at once, which a cooperative "
                       "launch needs, got {}",
                       info.name, launch.grid.count()));
  }
  throw_driver_error(result, fmt::format("kernel {}: launching it on cuda:{} with {}", name, device,
                                         describe(launch)));
}

/// Cold: the function of a kernel in the current context, which is one of `device`.
CUfunction bind_function(LoadedKernel& kernel, const std::string& name, CUcontext context,
                         int device) {
  CUfunction function = nullptr;
  check(driver().cuKernelGetFunction(&function, kernel.kernel),
        [&] { return fmt::format("kernel {}: loading it on cuda:{}", name, device); });
  const std::lock_guard lock(kernel.mutex);
  for (const auto& known : kernel.bindings) {
    if (known->context == context && known->function == function) {
      kernel.devices[static_cast<std::size_t>(device)].bound.store(known.get(),
                                                                   std::memory_order_release);
      return function;
    }
  }
  kernel.bindings.push_back(
      std::make_unique<LoadedKernel::Bound>(LoadedKernel::Bound{context, function}));
  kernel.devices[static_cast<std::size_t>(device)].bound.store(kernel.bindings.back().get(),
                                                               std::memory_order_release);
  return function;
}

/// The current context, null when there is none.
CUcontext current_context() {
  CUcontext context = nullptr;
  return driver().cuCtxGetCurrent(&context) == CUDA_SUCCESS ? context : nullptr;
}

/// Writes the attributes that differ from the default; gives their number.
unsigned fill_attributes(const Launch& launch, std::array<CUlaunchAttribute, 3>& out) {
  unsigned count = 0;
  if (launch.cluster != Dim3{}) {
    out[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    out[count].value.clusterDim.x = launch.cluster.x;
    out[count].value.clusterDim.y = launch.cluster.y;
    out[count].value.clusterDim.z = launch.cluster.z;
    ++count;
  }
  if (launch.pdl) {
    out[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    out[count].value.programmaticStreamSerializationAllowed = 1;
    ++count;
  }
  if (launch.cooperative) {
    out[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    out[count].value.cooperative = 1;
    ++count;
  }
  return count;
}

void launch_function(LoadedKernel& kernel, const std::string& name, const Launch& launch,
                     int device, CUfunction function, CUstream stream, void** arguments) {
  make_opt_ins(kernel, name, launch, device);
  std::array<CUlaunchAttribute, 3> attributes;  // not initialised: only the first few are read
  CUlaunchConfig config;
  config.gridDimX = launch.grid.x;
  config.gridDimY = launch.grid.y;
  config.gridDimZ = launch.grid.z;
  config.blockDimX = launch.block.x;
  config.blockDimY = launch.block.y;
  config.blockDimZ = launch.block.z;
  config.sharedMemBytes = launch.smem_bytes;
  config.hStream = stream;
  config.attrs = attributes.data();
  config.numAttrs = fill_attributes(launch, attributes);
  const CUresult result = driver().cuLaunchKernelEx(&config, function, arguments, nullptr);
  if (result != CUDA_SUCCESS) [[unlikely]]
    explain_refusal(result, kernel, name, launch, device);
}

}  // namespace

void check_geometry(const std::string& kernel, const Launch& launch) {
  if (is_empty(launch.grid)) return;
  if (!fits(launch)) [[unlikely]]
    explain_misfit(kernel, launch);
}

void Kernel::launch(const Launch& launch, Stream stream, void** arguments) const {
  EK_CHECK(handle_ != nullptr, ErrorKind::kValue,
           "kernel: expected a loaded one, got an empty one");
  const CUstream handle = native(stream);
  if (is_empty(launch.grid)) [[unlikely]]
    return;
  if (!fits(launch)) [[unlikely]]
    explain_misfit(name_, launch);

  const int device = stream.device.index;
  auto& kernel = *static_cast<LoadedKernel*>(handle_);
  const LoadedKernel::Bound* bound =
      kernel.devices[static_cast<std::size_t>(device)].bound.load(std::memory_order_acquire);
  if (bound != nullptr && bound->context == current_context()) [[likely]] {
    launch_function(kernel, name_, launch, device, bound->function, handle, arguments);
    return;
  }
  const ContextGuard guard(device);
  const CUcontext context = current_context();
  if (bound != nullptr && bound->context == context) {
    launch_function(kernel, name_, launch, device, bound->function, handle, arguments);
    return;
  }
  // Loading is what a capture forbids, and the driver's own error would not say of what.
  EK_CHECK(!is_capturing(stream), ErrorKind::kRuntime,
           fmt::format("kernel {}: expected a prepared one while a graph is captured, got one that "
                       "was not yet launched on cuda:{}\n  hint: call prepare() before the capture",
                       name_, device));
  const CUfunction function = bind_function(kernel, name_, context, device);
  launch_function(kernel, name_, launch, device, function, handle, arguments);
}

void Kernel::prepare(const Launch& launch, int device) const {
  EK_CHECK(handle_ != nullptr, ErrorKind::kValue,
           "kernel: expected a loaded one, got an empty one");
  const ContextGuard guard(device);
  auto& kernel = *static_cast<LoadedKernel*>(handle_);
  bind_function(kernel, name_, current_context(), device);
  make_opt_ins(kernel, name_, launch, device);
}

}  // namespace einkorn::cuda
