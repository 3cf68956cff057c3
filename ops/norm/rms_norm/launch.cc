#include "ops/norm/rms_norm/launch.h"

#include <algorithm>

#include <einkorn/expression.h>
#include <einkorn/match.h>

namespace einkorn::rms_norm {
namespace {

long long row_stride(const TensorView& tensor) {
  // match() has established that the leading dimensions collapse.
  return tensor.defined() ? collapsed_row_stride(tensor).value_or(0) : 0;
}

}  // namespace

int vector_width(const RmsNorm::Problem& problem) {
  int width = std::max(1, std::min(16, problem.align) / (bits(problem.dtype) / 8));
  while (problem.cols % width != 0) width /= 2;
  return width;
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
  params.x_stride = row_stride(args.x);
  params.residual_stride = row_stride(args.residual);
  params.y_stride = row_stride(args.y);
  params.residual_out_stride = row_stride(args.residual_out);
  params.eps = static_cast<float>(args.eps);
  params.offset = static_cast<float>(args.offset);
}

}  // namespace einkorn::rms_norm
