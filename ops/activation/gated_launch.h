#pragma once

// What the CUDA variants of silu_mul and its gradients share on the host.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <einkorn/expression.h>

#include "ops/activation/gated.h"
#include "ops/launch.h"

namespace einkorn::gated {

/// A problem as kernels see it: what has no gaps may be one long row.
struct Extent {
  std::int64_t rows;
  std::int64_t cols;
};
inline Extent extent(const Problem& problem, bool one_row) {
  if (!one_row) return {problem.rows, problem.cols};
  return {problem.rows == 0 ? 0 : 1, problem.rows * problem.cols};
}

/// The device type `<type><...>` for a problem.
inline std::string traits(std::string_view type, const Problem& problem) {
  return jit::instantiate(type, {problem.dtype, problem.clamp, problem.rounding == Rounding::kSilu,
                                 problem.packing == Packing::kInterleaved});
}

/// Where the second half of a packed tensor's rows begins.
inline std::byte* second_half(const TensorView& packed) {
  const std::int64_t bytes = packed.size(-1) / 2 * (bits(packed.dtype()) / 8);
  return static_cast<std::byte*>(packed.data()) + bytes;
}

/// Writes what a call decides of gate, up and the scalars.
template <class Args, class Params>
void bind_inputs(const Args& args, Params& params) {
  if (args.packing == Packing::kSplit) {
    params.gate = args.gate.data();
    params.up = args.up.data();
    params.gate_stride = cuda::row_stride(args.gate);
    params.up_stride = cuda::row_stride(args.up);
  } else {
    params.gate = args.packed.data();
    params.up = second_half(args.packed);
    params.gate_stride = params.up_stride = cuda::row_stride(args.packed);
  }
  params.limit = static_cast<float>(args.limit);
  params.alpha = static_cast<float>(args.alpha);
  params.up_offset = static_cast<float>(args.up_offset);
}

}  // namespace einkorn::gated
