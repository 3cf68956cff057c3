#pragma once

#include <cuda_runtime.h>

extern "C" int scan_rows(const float* x, float* out, int rows, int columns, cudaStream_t stream);
extern "C" int scan_reset(float* x, int count, cudaStream_t stream);
