#pragma once

// Where a triangle's elements lie (chunk_params.h, kTriangleBytes).

#include "ops/linear_attention/chunk_params.h"
#include "src/cuda/device/common/types.cuh"

namespace einkorn::linear_attention {

/// Bytes from a triangle to its second tile.
inline constexpr int kTriangleTile = kChunkTokens * 64;

/// Of the quarter that a triangle leaves out.
inline constexpr int kTriangleGap = kChunkTokens / 2 * 64;

/// To piece `piece`, of 8 columns, of row `row`. The quarter right of the first 32 rows has none.
__device__ inline int triangle_place(int row, int piece) {
  const int tile = piece < 4 ? 0 : kTriangleTile - kTriangleGap;
  return tile + row * 64 + (piece % 4 ^ row / 2 % 4) * 16;
}

}  // namespace einkorn::linear_attention
