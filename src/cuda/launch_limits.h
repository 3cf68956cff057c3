#pragma once

// What of a launch can be told to be wrong without a device.

#include <string>

#include <einkorn/cuda.h>

namespace einkorn::cuda {

/// ValueError that names `kernel` and the geometry: it breaks a limit that all devices share. An
/// empty grid, which launches nothing, breaks none.
void check_geometry(const std::string& kernel, const Launch& launch);

}  // namespace einkorn::cuda
