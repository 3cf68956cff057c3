#pragma once

#include <cuda.h>

#include <einkorn/device.h>

namespace einkorn::cuda {

/// The driver's handle. ValueError for a stream of the CPU.
CUstream native(Stream stream);

}  // namespace einkorn::cuda
