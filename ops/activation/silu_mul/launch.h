#pragma once

// What the CUDA variants of silu_mul share on the host.

#include <string>

#include "ops/activation/gated_launch.h"
#include "ops/activation/silu_mul/contract.h"
#include "ops/activation/silu_mul/params.h"

namespace einkorn::silu_mul {

using gated::Extent;
/// One long row where gate and up are apart and have no gaps.
Extent extent(const SiluMul::Problem& problem);

/// Elements that one thread may move at a time.
int vector_width(const SiluMul::Problem& problem);

/// The device type `Traits<...>` for a problem.
std::string traits(const SiluMul::Problem& problem);

Params make_params(const SiluMul::Problem& problem);

/// Writes what depends on the call.
void bind(const SiluMul::Args& args, Params& params);

}  // namespace einkorn::silu_mul
