#include "ops/activation/silu_mul/launch.h"

namespace einkorn::silu_mul {

Extent extent(const SiluMul::Problem& problem) {
  return gated::extent(problem, problem.packing == SiluMul::Packing::kSplit &&
                                    problem.layout == SiluMul::Layout::kContiguous);
}

int vector_width(const SiluMul::Problem& problem) {
  // Halves begin at column `cols` of the packed rows, so it has to divide that as well; it does.
  return cuda::vector_width(extent(problem).cols, problem.dtype, problem.align);
}

std::string traits(const SiluMul::Problem& problem) {
  return gated::traits("einkorn::silu_mul::Traits", problem);
}

Params make_params(const SiluMul::Problem& problem) {
  Params params{};
  params.rows = extent(problem).rows;
  params.cols = extent(problem).cols;
  return params;
}

void bind(const SiluMul::Args& args, Params& params) {
  gated::bind_inputs(args, params);
  params.y = args.y.data();
  params.y_stride = cuda::row_stride(args.y);
}

}  // namespace einkorn::silu_mul
