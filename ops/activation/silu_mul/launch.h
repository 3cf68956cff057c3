#pragma once

// What the CUDA variants of silu_mul share on the host.

#include <string>

#include "ops/activation/silu_mul/contract.h"
#include "ops/activation/silu_mul/params.h"

namespace einkorn::silu_mul {

/// A problem as kernels see it: contiguous tensors of their own are one long row.
struct Extent {
  std::int64_t rows;
  std::int64_t cols;
};
Extent extent(const SiluMul::Problem& problem);

/// Elements that one thread may move at a time: the most that fit 16 bytes, divide the row, and
/// keep every address aligned.
int vector_width(const SiluMul::Problem& problem);

/// The device type `Traits<...>` for a problem.
std::string traits(const SiluMul::Problem& problem);

Params make_params(const SiluMul::Problem& problem);

/// Writes what depends on the call.
void bind(const SiluMul::Args& args, Params& params);

}  // namespace einkorn::silu_mul
