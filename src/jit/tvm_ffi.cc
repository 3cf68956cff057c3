#include "src/jit/tvm_ffi.h"

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::jit {
namespace {

// Version 0.X.Y: X changes with the C ABI.
constexpr std::uint32_t kMajor = 0;
constexpr std::uint32_t kMinor = 1;

template <class Function>
void resolve(const cuda::DynamicLibrary& library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(library.symbol(name));
  EK_CHECK(out != nullptr, ErrorKind::kRuntime,
           fmt::format("libtvm_ffi: function {} is missing from {}\n"
                       "  hint: pip install --upgrade apache-tvm-ffi",
                       name, library.path()));
}

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
  resolve(library, "TVMFFIGetVersion", get_version);
  resolve(library, "TVMFFIObjectDecRef", release);
  resolve(library, "TVMFFIErrorMoveFromRaised", take_raised);
  resolve(library, "TVMFFIEnvSetStream", set_stream);
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
