#pragma once

__device__ inline float warp_scan(float value) {
  for (int step = 1; step < 32; step *= 2) {
    const float other = __shfl_up_sync(0xffffffffu, value, step);
    value += threadIdx.x % 32 >= step ? other : 0.0f;
  }
  return value;
}
