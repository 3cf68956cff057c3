#include "scale.h"

#include <c10/cuda/CUDAStream.h>

#include <cassert>

#include "scale.cuh"

namespace rowops::kernels {

View view_of(torch::Tensor& tensor) {
  TORCH_CHECK(tensor.is_cuda(), "expected a tensor on a GPU");
  const Type type = tensor.scalar_type() == torch::kHalf ? Type::kHalf : Type::kFloat;
  return View{tensor.data_ptr(), tensor.size(0), tensor.size(-1), type};
}

template <typename F>
void for_type(Type type, F&& body) {
  if (type == Type::kHalf) {
    body.template operator()<half>();
  } else {
    body.template operator()<float>();
  }
}

void scale_rows(View x, View factors, View out, bool negate) {
  assert(x.columns <= kLargestWidth);
  assert(factors.rows == x.rows);
  TORCH_CHECK(out.type == x.type, "out is of another type");
  for_type(x.type, [&]<typename T>() {
    DISPATCH_FLAG(negate, kNegate, [&] { Scaler<T, kNegate>::launch(x, factors, out); });
  });
}

void row_sums(View x, View out) {
  assert(out.columns == 1);
  using Sums = Scaler<float, false>;
  run_kernel<Sums::RowSums><<<x.rows, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
      static_cast<const float*>(x.data), static_cast<float*>(out.data), x.columns);
}

}  // namespace rowops::kernels
