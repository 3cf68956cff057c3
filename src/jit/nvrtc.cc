#include "src/jit/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace einkorn::jit {
namespace {

template <class Function>
void resolve(const cuda::DynamicLibrary& library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(library.symbol(name));
  EK_CHECK(out != nullptr, ErrorKind::kRuntime,
           fmt::format("libnvrtc: function {} is missing from {}\n"
                       "  hint: einkorn needs NVRTC 12.0 or newer: pip install nvidia-cuda-nvrtc",
                       name, library.path()));
}

/// 90 of "sm_90a"; 0 when the text has another form.
int parse_arch(std::string_view arch) {
  if (!arch.starts_with("sm_")) return 0;
  arch.remove_prefix(3);
  if (arch.ends_with('a') || arch.ends_with('f')) arch.remove_suffix(1);
  int number = 0;
  const auto [end, error] = std::from_chars(arch.data(), arch.data() + arch.size(), number);
  return error == std::errc() && end == arch.data() + arch.size() ? number : 0;
}

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

}  // namespace

Nvrtc::Nvrtc(cuda::DynamicLibrary opened) : library(std::move(opened)) {
#define EK_RESOLVE(function) resolve(library, #function, function);
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
}

std::string Nvrtc::id() const { return fmt::format("nvrtc {}.{}", major, minor); }

const Nvrtc& nvrtc() {
  static cuda::LazyTable<Nvrtc> table;
  return table.get();
}

void check_arch(const Nvrtc& compiler, const std::string& arch) {
  const int number = parse_arch(arch);
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
