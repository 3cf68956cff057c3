#include "ops/activation/silu_mul/launch.h"

#include <algorithm>

#include <einkorn/expression.h>
#include <einkorn/match.h>

namespace einkorn::silu_mul {
namespace {

long long row_stride(const TensorView& tensor) {
  // match() has established that the leading dimensions collapse.
  return collapsed_row_stride(tensor).value_or(0);
}

}  // namespace

Extent extent(const SiluMul::Problem& problem) {
  const bool flat =
      problem.packing == SiluMul::Packing::kSplit && problem.layout == SiluMul::Layout::kContiguous;
  return flat ? Extent{problem.rows == 0 ? 0 : 1, problem.rows * problem.cols}
              : Extent{problem.rows, problem.cols};
}

int vector_width(const SiluMul::Problem& problem) {
  int width = std::max(1, std::min(16, problem.align) / (bits(problem.dtype) / 8));
  // Halves begin at column `cols` of the packed rows, so it has to divide that as well; it does.
  while (extent(problem).cols % width != 0) width /= 2;
  return width;
}

std::string traits(const SiluMul::Problem& problem) {
  return jit::instantiate(
      "einkorn::silu_mul::Traits",
      {problem.dtype, problem.clamp, problem.rounding == SiluMul::Rounding::kSilu,
       problem.packing == SiluMul::Packing::kInterleaved});
}

Params make_params(const SiluMul::Problem& problem) {
  Params params{};
  params.rows = extent(problem).rows;
  params.cols = extent(problem).cols;
  return params;
}

void bind(const SiluMul::Args& args, Params& params) {
  if (args.packing == SiluMul::Packing::kSplit) {
    params.gate = args.gate.data();
    params.up = args.up.data();
    params.gate_stride = row_stride(args.gate);
    params.up_stride = row_stride(args.up);
  } else {
    const std::int64_t half = args.packed.size(-1) / 2;
    const std::int64_t bytes = half * (bits(args.packed.dtype()) / 8);
    params.gate = args.packed.data();
    params.up = static_cast<const std::byte*>(args.packed.data()) + bytes;
    params.gate_stride = row_stride(args.packed);
    params.up_stride = params.gate_stride;
  }
  params.y = args.y.data();
  params.y_stride = row_stride(args.y);
  params.limit = static_cast<float>(args.limit);
  params.alpha = static_cast<float>(args.alpha);
  params.up_offset = static_cast<float>(args.up_offset);
}

}  // namespace einkorn::silu_mul
