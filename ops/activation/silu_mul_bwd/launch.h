#pragma once

// What the CUDA variants of silu_mul_bwd share on the host.

#include <string>

#include "ops/activation/gated_launch.h"
#include "ops/activation/silu_mul_bwd/contract.h"
#include "ops/activation/silu_mul_bwd/params.h"

namespace einkorn::silu_mul_bwd {

using gated::Extent;
/// One long row where gates and ups are not halves and rows have no gaps.
Extent extent(const SiluMulBwd::Problem& problem);

/// Elements of dy that one thread may move at a time.
int vector_width(const SiluMulBwd::Problem& problem);

/// The device type `Traits<...>` for a problem.
std::string traits(const SiluMulBwd::Problem& problem);

Params make_params(const SiluMulBwd::Problem& problem);

/// Writes what depends on the call.
void bind(const SiluMulBwd::Args& args, Params& params);

}  // namespace einkorn::silu_mul_bwd
