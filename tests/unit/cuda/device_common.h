#pragma once

// What the tests of src/cuda/device/common share: the text of their kernels, compiling and running
// it.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/cuda.h>
#include <einkorn/jit.h>
#include <einkorn/tensor.h>

#include "tests/unit/cuda/gpu_fixture.h"

namespace einkorn::device_common {

/// Folder of the headers, as an include names it.
inline constexpr std::string_view kFolder = "src/cuda/device/common/";

/// The kernels of one header, "reduce" for reduce.cuh, with its include in front; "all" has all.
std::string kernels_of(std::string_view part);

/// Architectures that the headers are for.
inline constexpr const char* kArches[] = {"sm_80", "sm_90a", "sm_100a"};

using Expressions = std::vector<std::string>;

/// A header, "reduce" for reduce.cuh, and kernels that call all it has.
struct Part {
  std::string header;
  Expressions kernels;
};
std::vector<Part> parts();

/// All of them behind all.cuh, and vectors of fp8, which need two headers.
Part whole_part();

/// What a test looks at of a compilation.
struct Compiled {
  std::vector<std::byte> image;
  std::vector<jit::EntryPoint> entries;
  std::string log;
  double ms = 0;
};

/// By NVRTC. `expressions` as in `device_test::encode<einkorn::f16>`.
Compiled compile(const std::string& source, const Expressions& expressions,
                 const std::string& arch);

/// Kernels for device 0, of the part "all", compiled together.
class Kernels {
 public:
  explicit Kernels(const Expressions& expressions);

  const cuda::Kernel& operator[](const std::string& expression) const {
    return kernels_.at(expression);
  }

 private:
  std::map<std::string, cuda::Kernel> kernels_;
};

/// Skips where there is no GPU.
class DeviceCommon : public cuda::Gpu {
 protected:
  template <class T>
  static Tensor upload(const std::vector<T>& values) {
    const Tensor host =
        Tensor::empty({static_cast<std::int64_t>(values.size() * sizeof(T))}, kU8, kCpuDevice);
    std::memcpy(host.view().data(), values.data(), values.size() * sizeof(T));
    return host.to(cuda_device(0));
  }

  template <class T>
  static std::vector<T> download(const Tensor& tensor) {
    const Tensor host = tensor.to(kCpuDevice);
    std::vector<T> values(host.view().nbytes() / sizeof(T));
    std::memcpy(values.data(), host.view().data(), values.size() * sizeof(T));
    return values;
  }

  /// Room for results, every byte set.
  template <class T>
  static Tensor room(std::size_t count, std::uint8_t byte = 0xcd) {
    Tensor tensor =
        Tensor::empty({static_cast<std::int64_t>(count * sizeof(T))}, kU8, cuda_device(0));
    tensor.fill_bytes(byte);
    return tensor;
  }

  /// Launches and waits. A tensor stands for its address.
  template <class... Values>
  static void run(const cuda::Kernel& kernel, std::uint32_t grid, std::uint32_t block,
                  const Values&... values) {
    const cuda::OwnedStream stream(0);
    launch(kernel, {.grid = {grid}, .block = {block}}, stream.get(), argument(values)...);
    stream.synchronize();
  }

  /// One thread for each of `count` items, in blocks of 256.
  template <class... Values>
  static void run_over(const cuda::Kernel& kernel, std::size_t count, const Values&... values) {
    run(kernel, static_cast<std::uint32_t>((count + 255) / 256), 256, values...);
  }

 private:
  static void* argument(const Tensor& tensor) { return tensor.view().data(); }
  static void* argument(void* address) { return address; }
  static int argument(int value) { return value; }
};

}  // namespace einkorn::device_common
