#pragma once

// Rates measured on a device: what `einkorn doctor --measure` shows beside the datasheet's.

#include <optional>
#include <string>

#include <einkorn/dtype.h>

namespace einkorn::cuda {

/// 1e12 flop/s of a large square product by cuBLASLt, 2 n^3 flops, median of several batches: f32
/// (as tf32), f16, bf16 or f8e4m3 operands, f32 accumulation, on random operands (power, and with
/// it the clock, depends on them). Nothing, with the reason, when cuBLASLt is not there, has no
/// algorithm for the dtype on this device, or memory is short.
std::optional<double> measure_matmul_tflops(int device, DType dtype, std::string* reason = nullptr);

/// 1e9 bytes/s of a copy of 1 GiB within the device,
/// bytes read and bytes written both counted; median of several. RuntimeError when the driver
/// fails.
double measure_copy_gbps(int device);

}  // namespace einkorn::cuda
