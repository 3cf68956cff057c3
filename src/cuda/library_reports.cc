#include <array>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/cuda/cupti.h"
#include "src/cuda/driver.h"
#include "src/cuda/nvml.h"

namespace einkorn::cuda {
namespace {

// Each asks the library itself; empty when it does not say.

std::string libcuda_version(const DynamicLibrary& library) {
  const auto version =
      reinterpret_cast<decltype(&::cuDriverGetVersion)>(library.symbol("cuDriverGetVersion"));
  int value = 0;
  if (version == nullptr || version(&value) != CUDA_SUCCESS) return {};
  return fmt::format("CUDA {}.{}", value / 1000, value % 1000 / 10);
}

std::string nvrtc_version(const DynamicLibrary& library) {
  const auto version =
      reinterpret_cast<int (*)(int* major, int* minor)>(library.symbol("nvrtcVersion"));
  int major = 0;
  int minor = 0;
  if (version == nullptr || version(&major, &minor) != 0) return {};
  return fmt::format("{}.{}", major, minor);
}

std::string nvml_version(const DynamicLibrary&) {
  try {
    std::array<char, 96> text{};
    const Nvml& n = nvml();
    if (n.nvml_version(text.data(), text.size()) != kNvmlSuccess) return {};
    return text.data();
  } catch (const Error& error) {
    return error.what();
  }
}

std::string cublaslt_version(const DynamicLibrary& library) {
  const auto version = reinterpret_cast<std::size_t (*)()>(library.symbol("cublasLtGetVersion"));
  if (version == nullptr) return {};
  const std::size_t value = version();  // 10000*major + 100*minor + patch
  return fmt::format("{}.{}.{}", value / 10000, value % 10000 / 100, value % 100);
}

std::string cupti_version(const DynamicLibrary& library) {
  // Asked where no driver can be initialised, CUPTI 13.2 calls itself until the stack is full.
  if (!available()) return "not told without a driver";
  const auto version = reinterpret_cast<int (*)(std::uint32_t*)>(library.symbol("cuptiGetVersion"));
  std::uint32_t value = 0;
  if (version == nullptr || version(&value) != 0) return {};
  return describe_cupti_version(value);
}

LibraryReport report(const LibrarySpec& spec, std::string (*version)(const DynamicLibrary&)) {
  LibraryReport result;
  result.library = spec.name;
  const OpenAttempt attempt = try_open(spec, SearchRoots::of_process(spec));
  result.tried = attempt.tried;
  if (attempt.library) {
    result.path = attempt.library->path();
    result.version = version(*attempt.library);
  }
  return result;
}

}  // namespace

std::vector<LibraryReport> library_reports() {
  return {report(libcuda_spec(), libcuda_version), report(nvrtc_spec(), nvrtc_version),
          report(nvml_spec(), nvml_version), report(cublaslt_spec(), cublaslt_version),
          report(cupti_spec(), cupti_version)};
}

}  // namespace einkorn::cuda
