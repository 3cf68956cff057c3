#include <torch/extension.h>

template <typename T>
__global__ void powers_kernel(const T* x, T* out, int count, int degree) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  T power = x[at];
  for (int i = 0; i < degree; ++i) {
    out[i * count + at] = power;
    power *= x[at];
  }
}

torch::Tensor powers(torch::Tensor x, int degree) {
  TORCH_CHECK(x.numel() % 64 == 0, "a multiple of 64 elements");
  const int count = x.numel();
  auto out = torch::empty({degree, count}, x.options());
  const float2* pairs = reinterpret_cast<const float2*>(x.data_ptr<float>());
  powers_kernel<float><<<count / 64, 64>>>(reinterpret_cast<const float*>(pairs),
                                           out.data_ptr<float>(), count, degree);
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("powers", &powers); }
