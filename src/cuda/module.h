#pragma once

// What a loaded cubin is, behind Module and Kernel.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <cuda.h>

namespace einkorn::cuda {

/// A kernel and the opt-ins made for it so far. An attribute is of a kernel on a device, and
/// setting a smaller size would take back what another thread was promised: so sizes only grow.
struct LoadedKernel {
  /// What cuLaunchKernelEx takes, for one context. Asking the driver to find it again from the
  /// CUkernel costs a few hundred nanoseconds a launch.
  struct Bound {
    CUcontext context;
    CUfunction function;
  };

  struct OnDevice {
    std::atomic<const Bound*> bound{nullptr};    // for the context used last
    std::atomic<std::uint32_t> smem_allowed{0};  // bytes of dynamic shared memory known to be fine
    std::atomic<bool> large_cluster{false};      // clusters of more than 8 blocks allowed
  };

  CUkernel kernel = nullptr;
  std::unique_ptr<OnDevice[]> devices;
  std::mutex mutex;                              // one opt-in or binding at a time
  std::vector<std::unique_ptr<Bound>> bindings;  // kept: another thread may be reading one
};

struct LoadedLibrary {
  ~LoadedLibrary();

  CUlibrary library = nullptr;
  std::string name;
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<LoadedKernel>> kernels;  // by lowered name
};

}  // namespace einkorn::cuda
