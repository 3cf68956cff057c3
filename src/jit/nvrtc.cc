#include "src/jit/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/jit/arch_name.h"

namespace einkorn::jit {
namespace {

constexpr std::string_view kHint =
    "einkorn needs NVRTC 12.0 or newer: pip install nvidia-cuda-nvrtc";

/// NVRTC opens its built-ins by soname when it first compiles, and its wheel has no run path: they
/// are found there only if they are in the process already, or by luck in a toolkit of this
/// machine.
void open_builtins(const std::string& nvrtc_path, int major, int minor) {
  const std::filesystem::path builtins = std::filesystem::path(nvrtc_path).parent_path() /
                                         fmt::format("libnvrtc-builtins.so.{}.{}", major, minor);
  std::error_code ignored;  // not there: NVRTC's own search decides
  if (!std::filesystem::exists(builtins, ignored)) return;
  if (dlopen(builtins.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return;
  const char* reason = dlerror();
  throw_error(ErrorKind::kRuntime,
              fmt::format("libnvrtc: expected to open {}, got: {}\n"
                          "  hint: install NVRTC again: pip install --force-reinstall "
                          "nvidia-cuda-nvrtc",
                          builtins.string(), reason != nullptr ? reason : "no reason given"));
}

/// Has the heap keep what a compilation frees for the next one. A compilation takes some 10 MB and
/// frees them, and by default glibc then returns all but 128 KiB to the kernel: 2000 to 3000 page
/// faults and as many pages to clear, 3 to 5 ms of every compilation. Whoever frees a block that
/// was mapped raises that bound to twice its size (mallopt(3), M_MMAP_THRESHOLD), unless the
/// process or its environment has set a bound, which stays. The block's pages are never touched.
void keep_heap() {
  constexpr std::size_t kBlock = std::size_t{16} << 20;
  void* volatile block = std::malloc(kBlock);  // volatile: the pair may not be left out
  std::free(block);
}

}  // namespace

Nvrtc::Nvrtc(cuda::DynamicLibrary opened) : library(std::move(opened)) {
#define EK_RESOLVE(function) library.resolve(#function, function, kHint);
  EK_NVRTC_FUNCTIONS(EK_RESOLVE)
#undef EK_RESOLVE
  int count = 0;
  bool ok = nvrtcVersion(&major, &minor) == NVRTC_SUCCESS &&
            nvrtcGetNumSupportedArchs(&count) == NVRTC_SUCCESS && count > 0;
  if (ok) {
    archs.resize(static_cast<std::size_t>(count));
    ok = nvrtcGetSupportedArchs(archs.data()) == NVRTC_SUCCESS;
  }
  EK_CHECK(ok, ErrorKind::kRuntime,
           fmt::format("libnvrtc: {} does not tell its version and architectures\n"
                       "  hint: its libnvrtc-builtins may be missing or of another version",
                       library.path()));
  std::sort(archs.begin(), archs.end());
  open_builtins(library.path(), major, minor);
  keep_heap();
}

std::string Nvrtc::id() const { return fmt::format("nvrtc {}.{}", major, minor); }

const Nvrtc& nvrtc() {
  static cuda::LazyTable<Nvrtc> table;
  return table.get();
}

void check_arch(const Nvrtc& compiler, const std::string& arch) {
  const int number = sm_number(arch);
  const auto& known = compiler.archs;
  if (number != 0 && std::find(known.begin(), known.end(), number) != known.end()) return;
  throw_error(ErrorKind::kValue,
              fmt::format("jit: arch: expected one of sm_{} (\"a\" or \"f\" may follow from sm_90 "
                          "on), got \"{}\"\n"
                          "  hint: these are the architectures that {} knows; a newer device needs "
                          "a newer NVRTC",
                          fmt::join(known, ", sm_"), arch, compiler.id()));
}

}  // namespace einkorn::jit
