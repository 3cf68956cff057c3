#include <dlpack/dlpack.h>
#include <shift_kernel/host.h>
#include <tvm/ffi/container/tensor.h>

namespace {

constexpr uint32_t kBlock = 256;

template <int32_t kBy>
__global__ void shift_kernel(int32_t* out, const int32_t* x, size_t count) {
  const size_t at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count) {
    out[at] = x[at] + kBy;
  }
}

template <typename T, bool kVectors>
__global__ void shift_by_kernel(T* out, const T* x, const T* by, size_t count) {
  static_assert(sizeof(T) >= 2);
  const size_t at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at * 4 < count) {
    float4 values = reinterpret_cast<const float4*>(x)[at];
    values.x += *by;
    reinterpret_cast<float4*>(out)[at] = values;
  }
}

template <int32_t kBy>
void shift(tvm::ffi::TensorView out, tvm::ffi::TensorView x) {
  using namespace host;
  SymbolicSize count = {"count"};
  SymbolicDevice device;
  TensorMatcher({count}).with_dtype<int32_t>().with_device<kDLCUDA>(device).verify(out).verify(x);
  const size_t elements = count.unwrap();
  RuntimeCheck(elements > 0, "expected at least one element, got ", elements);
  const size_t blocks = div_ceil(elements, kBlock);
  LaunchKernel(blocks, kBlock, device.unwrap())(
      shift_kernel<kBy>, static_cast<int32_t*>(out.data_ptr()),
      static_cast<const int32_t*>(x.data_ptr()), elements);
}

template <typename T, bool kPdl>
struct ShiftBy {
  static constexpr auto kernel = shift_by_kernel<T, true>;

  static void check(tvm::ffi::TensorView x) {
    host::RuntimeCheck(x.size(0) % 4 == 0, "a multiple of 4 elements");
  }

  static void run(tvm::ffi::TensorView out, tvm::ffi::TensorView x, tvm::ffi::TensorView by) {
    check(x);
    const auto count = static_cast<size_t>(x.size(0));
    host::LaunchKernel(host::div_ceil(count / 4, kBlock), kBlock, x.device(), 0)
        .enable_pdl(kPdl)(kernel, static_cast<T*>(out.data_ptr()),
                          static_cast<const T*>(x.data_ptr()), static_cast<const T*>(by.data_ptr()),
                          count);
  }
};

}  // namespace
