#pragma once

#include <string_view>

#include <cuda.h>

#include <einkorn/device.h>

namespace einkorn::cuda {

/// The driver's handle. ValueError for a stream of the CPU.
CUstream native(Stream stream);

/// RuntimeError that names `what` and prepare() while `stream` records a graph, during which
/// nothing can be compiled and loaded. Nothing for the CPU.
void require_not_capturing(Stream stream, std::string_view what);

}  // namespace einkorn::cuda
