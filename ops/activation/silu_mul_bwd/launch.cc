#include "ops/activation/silu_mul_bwd/launch.h"

#include <algorithm>

#include <einkorn/expression.h>
#include <einkorn/match.h>

namespace einkorn::silu_mul_bwd {
namespace {

long long row_stride(const TensorView& tensor) {
  // match() has established that the leading dimensions collapse.
  return collapsed_row_stride(tensor).value_or(0);
}

/// Where the second half of a packed tensor's rows begins.
std::byte* second_half(const TensorView& packed) {
  const std::int64_t bytes = packed.size(-1) / 2 * (bits(packed.dtype()) / 8);
  return static_cast<std::byte*>(packed.data()) + bytes;
}

}  // namespace

Extent extent(const SiluMulBwd::Problem& problem) {
  // Halves are two runs a row. Interleaved, element i of dy belongs to elements 2i and 2i + 1 of
  // the packed tensors across rows as well.
  const bool flat = problem.packing != SiluMulBwd::Packing::kHalves &&
                    problem.layout == SiluMulBwd::Layout::kContiguous;
  return flat ? Extent{problem.rows == 0 ? 0 : 1, problem.rows * problem.cols}
              : Extent{problem.rows, problem.cols};
}

int vector_width(const SiluMulBwd::Problem& problem) {
  int width = std::max(1, std::min(16, problem.align) / (bits(problem.dtype) / 8));
  // Halves begin at column `cols` of the packed rows, so it has to divide that as well; it does.
  while (extent(problem).cols % width != 0) width /= 2;
  return width;
}

std::string traits(const SiluMulBwd::Problem& problem) {
  return jit::instantiate(
      "einkorn::silu_mul_bwd::Traits",
      {problem.dtype, problem.clamp, problem.rounding == SiluMulBwd::Rounding::kSilu,
       problem.packing == SiluMulBwd::Packing::kInterleaved});
}

Params make_params(const SiluMulBwd::Problem& problem) {
  Params params{};
  params.rows = extent(problem).rows;
  params.cols = extent(problem).cols;
  return params;
}

void bind(const SiluMulBwd::Args& args, Params& params) {
  params.dy = args.dy.data();
  params.dy_stride = row_stride(args.dy);
  if (args.packing == SiluMulBwd::Packing::kSplit) {
    params.gate = args.gate.data();
    params.up = args.up.data();
    params.dgate = args.dgate.data();
    params.dup = args.dup.data();
    params.gate_stride = row_stride(args.gate);
    params.up_stride = row_stride(args.up);
    params.dgate_stride = row_stride(args.dgate);
    params.dup_stride = row_stride(args.dup);
  } else {
    params.gate = args.packed.data();
    params.up = second_half(args.packed);
    params.dgate = args.dpacked.data();
    params.dup = second_half(args.dpacked);
    params.gate_stride = params.up_stride = row_stride(args.packed);
    params.dgate_stride = params.dup_stride = row_stride(args.dpacked);
  }
  params.limit = static_cast<float>(args.limit);
  params.alpha = static_cast<float>(args.alpha);
  params.up_offset = static_cast<float>(args.up_offset);
}

}  // namespace einkorn::silu_mul_bwd
