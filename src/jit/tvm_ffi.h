#pragma once

// The C interface of tvm-ffi (tvm/ffi/c_api.h of the wheel apache-tvm-ffi, C ABI 0.1): what is
// needed to call a function that a module exports. libtvm_ffi.so is opened at run time.

#include <cstddef>
#include <cstdint>
#include <string>

#include <dlpack/dlpack.h>

#include "src/cuda/dynamic_library.h"

namespace einkorn::jit {

/// Kinds of values. From kObject on a value is a counted object; below, nothing is owned.
enum FfiType : std::int32_t {
  kFfiNone = 0,
  kFfiInt = 1,
  kFfiBool = 2,
  kFfiFloat = 3,
  kFfiPointer = 4,
  kFfiDType = 5,
  kFfiDevice = 6,
  kFfiTensorView = 7,  ///< DLTensor*
  kFfiText = 8,        ///< const char*, arguments only
  kFfiByteArray = 9,   ///< FfiBytes*, arguments only
  kFfiShortText = 11,  ///< up to 7 bytes, in place
  kFfiShortBytes = 12,
  kFfiObject = 64,
  kFfiTextObject = 65,
  kFfiBytesObject = 66,  ///< laid out as a text
  kFfiFunctionObject = 68,
  kFfiTensorObject = 70,
};

/// An argument or a result.
struct FfiAny {
  std::int32_t type = kFfiNone;
  std::uint32_t short_text_size = 0;  ///< 0 for all but kFfiShortText, kFfiShortBytes
  union {
    std::int64_t integer = 0;
    double number;
    const void* pointer;
    char text[8];
  };
};
static_assert(sizeof(FfiAny) == 16);

/// What every object begins with.
struct FfiObjectHeader {
  std::uint64_t counts;
  std::int32_t type;
  std::uint32_t padding;
  void (*deleter)(void* self, int flags);
};
static_assert(sizeof(FfiObjectHeader) == 24);

struct FfiBytes {
  const char* data;
  std::size_t size;
};

/// An error object; further members follow.
struct FfiErrorObject {
  FfiObjectHeader header;
  FfiBytes kind;  ///< Python's name: "ValueError"
  FfiBytes message;
};

/// A text object; further members may follow.
struct FfiTextObject {
  FfiObjectHeader header;
  FfiBytes bytes;
};

/// A tensor object; further members may follow.
struct FfiTensorObject {
  FfiObjectHeader header;
  DLTensor tensor;
};

/// How a module exports a function: as the symbol `__tvm_ffi_<name>`. 0 is success.
using FfiFunction = int (*)(void* self, const FfiAny* arguments, std::int32_t count,
                            FfiAny* result);
inline constexpr const char* kFfiPrefix = "__tvm_ffi_";

struct FfiVersion {
  std::uint32_t major = 0, minor = 0, patch = 0;
};

/// The library's functions.
struct TvmFfi {
  /// RuntimeError: it is missing (with the places searched), of another C ABI, or lacks a function.
  TvmFfi();

  cuda::DynamicLibrary library;
  void (*get_version)(FfiVersion* out) = nullptr;
  int (*retain)(void* object) = nullptr;
  int (*release)(void* object) = nullptr;
  void (*take_raised)(void** object) = nullptr;
  void (*raise)(const char* kind, const char* message) = nullptr;
  int (*make_text)(const FfiBytes* text, FfiAny* out) = nullptr;
  int (*make_bytes)(const FfiBytes* bytes, FfiAny* out) = nullptr;
  int (*make_function)(void* self, FfiFunction call, void (*deleter)(void* self),
                       void** out) = nullptr;
  int (*call_function)(void* function, const FfiAny* arguments, std::int32_t count,
                       FfiAny* result) = nullptr;
  /// Takes over the tensor, whose deleter it calls with the last reference.
  int (*make_tensor)(DLManagedTensorVersioned* from, std::int32_t alignment,
                     std::int32_t contiguous, void** out) = nullptr;
  void* (*get_stream)(std::int32_t device_type, std::int32_t device_id) = nullptr;
  int (*set_stream)(std::int32_t device_type, std::int32_t device_id, void* stream,
                    void** before) = nullptr;
};

/// The process's copy: one that is loaded already, as by `import tvm_ffi`, else out of wheels.
/// Opening it installs its handler for SIGSEGV, which prints a backtrace.
const TvmFfi& tvm_ffi();

/// EINKORN_TVM_FFI, wheels, the loader's search path.
const cuda::LibrarySpec& tvm_ffi_spec();

}  // namespace einkorn::jit
