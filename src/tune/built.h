#pragma once

// What a plan was compiled to.

#include <string>

#include <einkorn/device.h>
#include <einkorn/plan.h>

#include "src/trials/trial.h"

namespace einkorn::tune {

/// "nvrtc 13.0", of the first launch, which is compiled if it was not before; of a plan without
/// launches the C++ compiler that built this library. Throws what jit::compile throws.
std::string compiler_of(const Plan& plan, const DeviceInfo& device);

/// The most that any of a plan's launches takes, by the compiled kernels. Zeros on a CPU.
trials::Resources resources_of(const Plan& plan, const DeviceInfo& device);

}  // namespace einkorn::tune
