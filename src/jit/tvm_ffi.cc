#include "src/jit/tvm_ffi.h"

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::jit {
namespace {

constexpr std::string_view kHint = "pip install --upgrade apache-tvm-ffi";

// Version 0.X.Y: X changes with the C ABI.
constexpr std::uint32_t kMajor = 0;
constexpr std::uint32_t kMinor = 1;

}  // namespace

const cuda::LibrarySpec& tvm_ffi_spec() {
  static const cuda::LibrarySpec kSpec{.name = "libtvm_ffi",
                                       .variable = "EINKORN_TVM_FFI",
                                       .sonames = {"libtvm_ffi.so"},
                                       .wheel_folders = {"tvm_ffi/lib"},
                                       .in_toolkit = false,
                                       .last_folders = {},
                                       .hint = "pip install apache-tvm-ffi"};
  return kSpec;
}

TvmFfi::TvmFfi() : library(cuda::DynamicLibrary::open(tvm_ffi_spec())) {
  library.resolve("TVMFFIGetVersion", get_version, kHint);
  library.resolve("TVMFFIObjectIncRef", retain, kHint);
  library.resolve("TVMFFIObjectDecRef", release, kHint);
  library.resolve("TVMFFIErrorMoveFromRaised", take_raised, kHint);
  library.resolve("TVMFFIErrorSetRaisedFromCStr", raise, kHint);
  library.resolve("TVMFFIStringFromByteArray", make_text, kHint);
  library.resolve("TVMFFIBytesFromByteArray", make_bytes, kHint);
  library.resolve("TVMFFIFunctionCreate", make_function, kHint);
  library.resolve("TVMFFIFunctionCall", call_function, kHint);
  library.resolve("TVMFFITensorFromDLPackVersioned", make_tensor, kHint);
  library.resolve("TVMFFIEnvGetStream", get_stream, kHint);
  library.resolve("TVMFFIEnvSetStream", set_stream, kHint);
  FfiVersion version;
  get_version(&version);
  EK_CHECK(
      version.major == kMajor && version.minor == kMinor, ErrorKind::kRuntime,
      fmt::format("libtvm_ffi: {}: expected the C ABI {}.{}, got version {}.{}.{}", library.path(),
                  kMajor, kMinor, version.major, version.minor, version.patch));
}

const TvmFfi& tvm_ffi() {
  static cuda::LazyTable<TvmFfi> table;
  return table.get();
}

}  // namespace einkorn::jit
