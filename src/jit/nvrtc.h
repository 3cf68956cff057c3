#pragma once

// NVRTC's functions, resolved when the first compile needs them.

#include <string>
#include <vector>

#include <nvrtc.h>

#include "src/cuda/dynamic_library.h"

namespace einkorn::jit {

#define EK_NVRTC_FUNCTIONS(X)  \
  X(nvrtcVersion)              \
  X(nvrtcGetErrorString)       \
  X(nvrtcGetNumSupportedArchs) \
  X(nvrtcGetSupportedArchs)    \
  X(nvrtcCreateProgram)        \
  X(nvrtcDestroyProgram)       \
  X(nvrtcCompileProgram)       \
  X(nvrtcAddNameExpression)    \
  X(nvrtcGetLoweredName)       \
  X(nvrtcGetCUBINSize)         \
  X(nvrtcGetCUBIN)             \
  X(nvrtcGetProgramLogSize)    \
  X(nvrtcGetProgramLog)

/// The constructor opens and resolves NVRTC. RuntimeError: it is missing (with the places
/// searched), or lacks a function.
struct Nvrtc {
  Nvrtc() : Nvrtc(cuda::DynamicLibrary::open(cuda::nvrtc_spec())) {}
  explicit Nvrtc(cuda::DynamicLibrary opened);

#define EK_MEMBER(function) decltype(&::function) function = nullptr;
  EK_NVRTC_FUNCTIONS(EK_MEMBER)
#undef EK_MEMBER

  cuda::DynamicLibrary library;
  int major = 0;
  int minor = 0;
  std::vector<int> archs;  ///< compute capabilities as 10*major+minor, ascending

  /// "nvrtc 13.0"
  std::string id() const;
  bool at_least(int want_major, int want_minor) const {
    return major != want_major ? major > want_major : minor >= want_minor;
  }
};

/// The process's NVRTC. A failure is thrown and tried again next time.
const Nvrtc& nvrtc();

/// ValueError unless `arch` is "sm_NN" with an optional "a" or "f", and NN one that NVRTC knows.
void check_arch(const Nvrtc& compiler, const std::string& arch);

}  // namespace einkorn::jit
