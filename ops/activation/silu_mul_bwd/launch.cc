#include "ops/activation/silu_mul_bwd/launch.h"

namespace einkorn::silu_mul_bwd {

Extent extent(const SiluMulBwd::Problem& problem) {
  // Halves are two runs a row. Interleaved, element i of dy belongs to elements 2i and 2i + 1 of
  // the packed tensors across rows as well.
  return gated::extent(problem, problem.packing != SiluMulBwd::Packing::kHalves &&
                                    problem.layout == SiluMulBwd::Layout::kContiguous);
}

int vector_width(const SiluMulBwd::Problem& problem) {
  // Halves begin at column `cols` of the packed rows, so it has to divide that as well; it does.
  return cuda::vector_width(extent(problem).cols, problem.dtype, problem.align);
}

std::string traits(const SiluMulBwd::Problem& problem) {
  return gated::traits("einkorn::silu_mul_bwd::Traits", problem);
}

Params make_params(const SiluMulBwd::Problem& problem) {
  Params params{};
  params.rows = extent(problem).rows;
  params.cols = extent(problem).cols;
  return params;
}

void bind(const SiluMulBwd::Args& args, Params& params) {
  gated::bind_inputs(args, params);
  params.dy = args.dy.data();
  params.dy_stride = cuda::row_stride(args.dy);
  if (args.packing == SiluMulBwd::Packing::kSplit) {
    params.dgate = args.dgate.data();
    params.dup = args.dup.data();
    params.dgate_stride = cuda::row_stride(args.dgate);
    params.dup_stride = cuda::row_stride(args.dup);
  } else {
    params.dgate = args.dpacked.data();
    params.dup = gated::second_half(args.dpacked);
    params.dgate_stride = params.dup_stride = cuda::row_stride(args.dpacked);
  }
}

}  // namespace einkorn::silu_mul_bwd
