#include "ops/norm/qk_norm/launch.h"

#include <einkorn/expression.h>

#include "ops/launch.h"

namespace einkorn::qk_norm {

int vector_width(const QkNorm::Problem& problem) {
  return cuda::vector_width(problem.cols, problem.dtype, problem.align);
}

std::string traits(const QkNorm::Problem& problem) {
  return jit::instantiate("einkorn::rms_norm::Traits",
                          {problem.dtype, problem.weight, std::optional<DType>(),
                           static_cast<int>(problem.rounding), false, false});
}

Params make_params(const QkNorm::Problem& problem) {
  Params params{};
  params.rows = problem.rows;
  params.q_heads = static_cast<int>(problem.q_heads);
  params.cols = static_cast<int>(problem.cols);
  params.inverse_cols = static_cast<float>(1.0 / static_cast<double>(problem.cols));
  return params;
}

void bind(const QkNorm::Args& args, Params& params) {
  params.q = args.q.data();
  params.k = args.k.data();
  params.q_weight = args.q_weight.data();
  params.k_weight = args.k_weight.data();
  params.q_out = args.q_out.data();
  params.k_out = args.k_out.data();
  params.q_stride = cuda::row_stride(args.q, 2);
  params.k_stride = cuda::row_stride(args.k, 2);
  params.q_out_stride = cuda::row_stride(args.q_out, 2);
  params.k_out_stride = cuda::row_stride(args.k_out, 2);
  params.eps = static_cast<float>(args.eps);
  params.offset = static_cast<float>(args.offset);
}

}  // namespace einkorn::qk_norm
