#include "src/cuda/module.h"

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/cuda/driver.h"

namespace einkorn::cuda {

LoadedLibrary::~LoadedLibrary() {
  // Fails only while the driver is being torn down, which unloads everything anyway.
  if (library != nullptr) driver().cuLibraryUnload(library);
}

Module Module::load(std::span<const std::byte> cubin, std::string_view name) {
  EK_CHECK(!cubin.empty(), ErrorKind::kValue,
           fmt::format("module {}: expected a cubin, got 0 bytes", name));
  const Driver& d = driver();
  auto loaded = std::make_shared<LoadedLibrary>();
  loaded->name = name;
  check(
      d.cuLibraryLoadData(&loaded->library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      [&] { return fmt::format("loading module {}", name); });
  Module module;
  module.library_ = std::move(loaded);
  return module;
}

Kernel Module::kernel(const std::string& lowered_name, std::string_view shown) const {
  EK_CHECK(library_ != nullptr, ErrorKind::kValue,
           "module: expected a loaded one, got an empty one");
  auto& loaded = *static_cast<LoadedLibrary*>(library_.get());
  const std::lock_guard lock(loaded.mutex);
  auto found = loaded.kernels.find(lowered_name);
  if (found == loaded.kernels.end()) {
    const Driver& d = driver();
    auto kernel = std::make_unique<LoadedKernel>();
    const CUresult result =
        d.cuLibraryGetKernel(&kernel->kernel, loaded.library, lowered_name.c_str());
    EK_CHECK(result != CUDA_ERROR_NOT_FOUND, ErrorKind::kValue,
             fmt::format("module {}: expected the lowered name of one of its kernels, got \"{}\"",
                         loaded.name, lowered_name));
    check(result, [&] { return fmt::format("finding kernel {}", lowered_name); });
    kernel->devices =
        std::make_unique<LoadedKernel::OnDevice[]>(static_cast<std::size_t>(d.devices));
    found = loaded.kernels.emplace(lowered_name, std::move(kernel)).first;
  }
  return Kernel(library_, found->second.get(), shown.empty() ? lowered_name : std::string(shown));
}

}  // namespace einkorn::cuda
