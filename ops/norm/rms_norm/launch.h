#pragma once

// What the CUDA variants of rms_norm share on the host.

#include <string>

#include "ops/norm/rms_norm/contract.h"
#include "ops/norm/rms_norm/params.h"

namespace einkorn::rms_norm {

/// Elements that one thread may move at a time: the most that fit 16 bytes, divide the row, and
/// keep every address aligned.
int vector_width(const RmsNorm::Problem& problem);

/// The device type `Traits<...>` for a problem.
std::string traits(const RmsNorm::Problem& problem);

/// Parameters with all that depends on the problem alone.
Params make_params(const RmsNorm::Problem& problem);

/// Writes what depends on the call: pointers, strides, eps, offset.
void bind(const RmsNorm::Args& args, Params& params);

}  // namespace einkorn::rms_norm
