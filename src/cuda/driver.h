#pragma once

// The driver's functions, resolved when the first of them is needed.

#include <concepts>
#include <string>
#include <string_view>

#include <cuda.h>

#include "src/cuda/dynamic_library.h"

namespace einkorn::cuda {

// Exported names, versions included: cuda.h maps the plain names to these by macros. All of them
// are there since driver 525 (CUDA 12.0).
#define EK_DRIVER_FUNCTIONS(X)   \
  X(cuInit)                      \
  X(cuDriverGetVersion)          \
  X(cuGetErrorName)              \
  X(cuGetErrorString)            \
  X(cuDeviceGetCount)            \
  X(cuDeviceGetName)             \
  X(cuDeviceGetAttribute)        \
  X(cuDeviceGetPCIBusId)         \
  X(cuDevicePrimaryCtxRetain)    \
  X(cuCtxGetDevice)              \
  X(cuCtxGetCurrent)             \
  X(cuCtxPushCurrent_v2)         \
  X(cuCtxPopCurrent_v2)          \
  X(cuStreamCreate)              \
  X(cuStreamDestroy_v2)          \
  X(cuStreamSynchronize)         \
  X(cuStreamIsCapturing)         \
  X(cuStreamWaitEvent)           \
  X(cuStreamBeginCapture_v2)     \
  X(cuStreamEndCapture)          \
  X(cuEventCreate)               \
  X(cuEventRecord)               \
  X(cuEventSynchronize)          \
  X(cuEventDestroy_v2)           \
  X(cuGraphInstantiateWithFlags) \
  X(cuGraphLaunch)               \
  X(cuGraphExecDestroy)          \
  X(cuGraphDestroy)              \
  X(cuMemAlloc_v2)               \
  X(cuMemFree_v2)                \
  X(cuMemAllocAsync)             \
  X(cuMemFreeAsync)              \
  X(cuMemcpy)                    \
  X(cuMemcpyAsync)               \
  X(cuMemsetD8Async)             \
  X(cuMemsetD8_v2)               \
  X(cuLibraryLoadData)           \
  X(cuLibraryUnload)             \
  X(cuLibraryGetKernel)          \
  X(cuKernelGetFunction)         \
  X(cuKernelGetAttribute)        \
  X(cuKernelSetAttribute)        \
  X(cuLaunchKernelEx)            \
  X(cuTensorMapEncodeTiled)

/// Function pointers of libcuda; the constructor opens, resolves and initialises it.
///
/// Raises RuntimeError: the library is missing, lacks a function (named, with the driver's
/// version), or cuInit fails.
struct Driver {
  Driver();

#define EK_MEMBER(function) decltype(&::function) function = nullptr;
  EK_DRIVER_FUNCTIONS(EK_MEMBER)
#undef EK_MEMBER
  // cuda.h 13 declares the second version only, which drivers before 12.8 lack; same signature.
  decltype(&::cuEventElapsedTime_v2) cuEventElapsedTime_v1 = nullptr;

  DynamicLibrary library;
  int version = 0;  ///< highest CUDA version it serves, 1000*major + 10*minor
  int devices = 0;
};

/// The process's driver. Cheap after the first call; a failure is thrown and tried again next time.
const Driver& driver();

/// True when driver() has succeeded before; opens nothing.
bool driver_loaded();

/// RuntimeError that says what was being done, the driver's name and text for `result`, and, when
/// the context cannot be used any more, that the process has to restart.
[[noreturn]] void throw_driver_error(CUresult result, std::string_view what);

/// Text of throw_driver_error, for callers with a kind or a prefix of their own.
std::string describe_driver_error(CUresult result, std::string_view what);

/// True for errors after which every call on the context fails.
bool is_lost_device(CUresult result);

inline void check(CUresult result, std::string_view what) {
  if (result != CUDA_SUCCESS) [[unlikely]]
    throw_driver_error(result, what);
}

/// The same with a description that is made only on failure, for calls that are made often.
template <std::invocable Describe>
void check(CUresult result, Describe&& describe) {
  if (result != CUDA_SUCCESS) [[unlikely]]
    throw_driver_error(result, describe());
}

/// The device's primary context, retained on first use and for the process.
/// ValueError for an index out of range.
CUcontext primary_context(int device);

/// ValueError unless 0 <= device < device count.
void check_device_index(int device);

}  // namespace einkorn::cuda
