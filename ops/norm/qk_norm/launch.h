#pragma once

// What the CUDA variants of qk_norm share on the host.

#include <string>

#include "ops/norm/qk_norm/contract.h"
#include "ops/norm/qk_norm/params.h"

namespace einkorn::qk_norm {

/// Elements that one thread may move at a time: the most that fit 16 bytes, divide a head, and keep
/// every address aligned.
int vector_width(const QkNorm::Problem& problem);

/// The device type for a problem: rms_norm's `Traits<...>`, whose arithmetic a head's is.
std::string traits(const QkNorm::Problem& problem);

/// Parameters with all that depends on the problem alone.
Params make_params(const QkNorm::Problem& problem);

/// Writes what depends on the call: pointers, strides, eps, offset.
void bind(const QkNorm::Args& args, Params& params);

}  // namespace einkorn::qk_norm
