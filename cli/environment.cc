#include "cli/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/jit/time_limit.h"
#include "src/jit/worker_pool.h"
#include "src/registry/suggest.h"

namespace einkorn::cli {
namespace {

struct Known {
  std::string_view name;
  std::string_view meaning;
};

// docs/guide/environment.md explains each; tests/cli compares the two.
constexpr Known kKnown[] = {
    {"EINKORN_OPS", "choices of variants for slots, as rms_norm=auto,silu_mul=cpu/rows_v1"},
    {"EINKORN_PLUGINS", "shared objects with further ops and variants, separated by ':'"},
    {"EINKORN_JIT", "on, cache-only or off: whether kernels are compiled"},
    {"EINKORN_CACHE_DIR", "where compiled kernels are kept"},
    {"EINKORN_CACHE_MAX", "room that the cache keeps within, as 512M or 10G"},
    {"EINKORN_CACHE_TRUST", "1: kernels that other users compiled are loaded, too"},
    {"EINKORN_TRIALS", "folder of the trial store, or off"},
    {"EINKORN_PACK", "folders of kernels compiled ahead, separated by ':'"},
    {"EINKORN_LIBCUDA", "full path of the driver, libcuda.so.1; nothing else is tried"},
    {"EINKORN_NVRTC", "full path of libnvrtc.so; nothing else is tried"},
    {"EINKORN_NVML", "full path of libnvidia-ml.so.1; nothing else is tried"},
    {"EINKORN_CUBLASLT", "full path of libcublasLt.so; nothing else is tried"},
    {"EINKORN_CUPTI", "full path of libcupti.so; nothing else is tried"},
    {"EINKORN_NCU", "full path of Nsight Compute's ncu; nothing else is tried"},
    {"EINKORN_NVDISASM", "full path of nvdisasm or cuobjdump; nothing else is tried"},
    {"EINKORN_TVM_FFI", "full path of libtvm_ffi.so; nothing else is tried"},
    {"EINKORN_NVCC", "full path of nvcc; nothing else is tried"},
    {"EINKORN_HOST_CXX", "C++ compiler of CPU kernels, instead of CXX and c++"},
    {"EINKORN_JIT_WORKER", "full path of einkorn_jit_worker; nothing else is tried"},
    {"EINKORN_JIT_WORKERS", "most compile workers at a time"},
    {"EINKORN_JIT_TIMEOUT", "seconds that one compilation may take"},
    {"EINKORN_NUM_THREADS", "threads of the CPU variants"},
    {"EINKORN_PYTHON", "Python interpreter that runs peers and port"},
    {"EINKORN_LIBRARY", "full path of libeinkorn_python.so; nothing else is tried"},
    {"EINKORN_ENTRY_POINTS", "off: no variants of installed Python packages"},
    {"EINKORN_TEST_LEVEL", "tests: cases up to this level"},
    // Set by ctest for the tests of the command and of Python.
    {"EINKORN_BIN", "tests: the command under test"},
    {"EINKORN_BUILD_DIR", "tests: the build folder"},
    {"EINKORN_SOURCE_DIR", "tests: the source tree"},
    {"EINKORN_CXX", "tests: the C++ compiler"},
};

constexpr std::string_view kPrefix = "EINKORN_";

std::vector<std::string> names_of_ops(const Registry& registry) {
  std::vector<std::string> names;
  for (const OpEntry& entry : registry.ops()) names.push_back(environment_name(entry.op->name));
  return names;
}

}  // namespace

std::vector<EnvironmentVariable> variables_in_force(const Registry& registry) {
  std::vector<EnvironmentVariable> out;
  const auto add = [&](const std::string& name, std::string_view meaning) {
    if (const char* value = std::getenv(name.c_str())) {
      out.push_back({name, std::string(meaning), value});
    }
  };
  for (const OpEntry& entry : registry.ops()) {
    add(environment_name(entry.op->name), fmt::format("the variant of {}", entry.op->name));
  }
  for (const Known& known : kKnown) add(std::string(known.name), known.meaning);
  return out;
}

std::vector<UnknownVariable> unknown_variables(const Registry& registry) {
  const std::vector<std::string> ops = names_of_ops(registry);
  std::vector<std::string_view> known(ops.begin(), ops.end());
  for (const Known& one : kKnown) known.push_back(one.name);
  std::vector<UnknownVariable> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (!name.starts_with(kPrefix) || std::ranges::find(known, name) != known.end()) continue;
    out.push_back({std::string(name), std::string(nearest(name, known))});
  }
  std::ranges::sort(out, {}, &UnknownVariable::name);
  return out;
}

std::vector<std::string> problems_of_compile_variables() {
  std::vector<std::string> out;
  const auto look = [&](auto&& read) {
    try {
      static_cast<void>(read());
    } catch (const Error& error) {
      out.emplace_back(error.what());
    }
  };
  look([] { return jit::time_limit_of(jit::CompileInputs{}, 1); });
  look(jit::worker_limit);
  return out;
}

}  // namespace einkorn::cli
