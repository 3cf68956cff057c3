#include "ops/norm/rms_norm/launch.h"

#include <einkorn/expression.h>

#include "ops/launch.h"

namespace einkorn::rms_norm {
int vector_width(const RmsNorm::Problem& problem) {
  return cuda::vector_width(problem.cols, problem.dtype, problem.align);
}

std::string traits(const RmsNorm::Problem& problem) {
  return jit::instantiate("einkorn::rms_norm::Traits",
                          {problem.dtype, problem.weight, problem.residual,
                           static_cast<int>(problem.rounding), problem.residual_out, problem.rstd});
}

Params make_params(const RmsNorm::Problem& problem) {
  Params params{};
  params.rows = problem.rows;
  params.cols = static_cast<int>(problem.cols);
  params.inverse_cols = static_cast<float>(1.0 / static_cast<double>(problem.cols));
  return params;
}

void bind(const RmsNorm::Args& args, Params& params) {
  params.x = args.x.data();
  params.weight = args.weight.data();
  params.residual = args.residual.data();
  params.y = args.y.data();
  params.residual_out = args.residual_out.data();
  params.rstd = args.rstd.data_as<float>();
  params.x_stride = cuda::row_stride(args.x);
  params.residual_stride = cuda::row_stride(args.residual);
  params.y_stride = cuda::row_stride(args.y);
  params.residual_out_stride = cuda::row_stride(args.residual_out);
  params.eps = static_cast<float>(args.eps);
  params.offset = static_cast<float>(args.offset);
}

}  // namespace einkorn::rms_norm
