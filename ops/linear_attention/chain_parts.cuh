#pragma once

// What the chains of chunks on Hopper share: four warps that keep S^T [V][K] in registers, each 16
// rows of the block's half of V, and whose products have what comes from registers as the left
// side. Registers of a result [V][columns]: 4j + 2r + i is V's row g + 8r (of the warp's) and
// column 8j + 2t + i, g = lane / 4, t = lane % 4.

#include "ops/linear_attention/row_copies.cuh"
#include "ops/linear_attention/triangle.cuh"
#include "src/cuda/device/common/mma.cuh"
#include "src/cuda/device/sm90/bulk.cuh"
#include "src/cuda/device/sm90/stmatrix.cuh"
#include "src/cuda/device/sm90/wgmma.cuh"

namespace einkorn::linear_attention::recurrence_detail {

/// By one thread. A stage is full after `filled_by` arrivals; four warps empty it, and fill the
/// tile that one warp empties.
template <int kStages, class Memory>
__device__ inline void init_barriers(Memory& memory, int filled_by) {
  for (int i = 0; i < kStages; ++i) {
    barrier_init(&memory.full[i], filled_by);
    barrier_init(&memory.empty[i], 128);
  }
  barrier_init(&memory.out_full, 128);
  barrier_init(&memory.out_empty, 32);
  fence_barrier_init();
}

/// A lane's row of four matrices of 8 tokens x 8 values in a tile [tokens][values] of which the
/// warp has 16 columns; the tokens of more matrices follow 16 rows on, which leaves the swizzle as
/// it is.
__device__ inline u32 tile_row_of(int warp, int lane) {
  const int matrix = lane / 8;
  return swizzled(matrix / 2 * 8 + lane % 8, warp * 2 + matrix % 2);
}

/// 64 tokens of the warp's values, transposed, from or to the tile whose `tile_row_of()` is at
/// `row`.
__device__ inline void load_values(u32 (&values)[16], const char* row) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    u32 four[4];
    ldmatrix_transposed(four, row + j * 16 * 128);
#pragma unroll
    for (int i = 0; i < 4; ++i) values[4 * j + i] = four[i];
  }
}
__device__ inline void store_values(char* row, const u32 (&values)[16]) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const u32 four[4] = {values[4 * j], values[4 * j + 1], values[4 * j + 2], values[4 * j + 3]};
    stmatrix_transposed(row + j * 16 * 128, four);
  }
}

/// A result in bf16, pairs of neighbours.
template <int kPairs>
__device__ inline void round_pairs(const float (&x)[2 * kPairs], u32 (&out)[kPairs]) {
#pragma unroll
  for (int i = 0; i < kPairs; ++i) out[i] = pack2<bf16>(x[2 * i], x[2 * i + 1]);
}

/// O of chunk c to the warp that stores it.
template <class Memory>
__device__ inline void hand_out(Memory& memory, char* row, const float (&o)[32], int c) {
  if (c > 0) barrier_wait(&memory.out_empty, (c - 1) & 1);
  u32 rounded[16];
  round_pairs(o, rounded);
  store_values(row, rounded);
  barrier_arrive(&memory.out_full);
}

/// S in bf16, and what is missing of it, where a merge will build on the result.
template <bool kExact>
struct RoundedState {
  u32 high[32];
  u32 low[kExact ? 32 : 1];

  __device__ void round(const float (&s)[64]) {
    if constexpr (kExact) {
#pragma unroll
      for (int i = 0; i < 32; ++i) split(s[2 * i], s[2 * i + 1], high[i], low[i]);
    } else {
      round_pairs(s, high);
    }
  }
};

/// d = or += A B^T, 16 kSteps of B's columns; a B of 128 columns lies as two tiles of 64 rows.
template <int kSteps>
__device__ inline void multiply(float (&d)[32], const u32* a, const char* b, bool add) {
  const u64 tiles = wgmma_descriptor(b);
#pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    wgmma_m64n64k16(d, a + 4 * i, columns_of(tiles, i), add || i > 0);
  }
}

/// A record R in a stage: zeros in the place of what its triangles leave out, so that products have
/// all of the accumulators. (Of half of them, ptxas has all products wait for each other.)
template <class R>
struct Staged {
  static_assert(R::kAttention == R::kInverse + kTriangleBytes);
  static constexpr int kInverse = R::kInverse;
  static constexpr int kAttention = R::kAttention + kTriangleGap;
  static constexpr int kBehind = 2 * kTriangleGap;  ///< more than in the record, behind these
  static constexpr int kBytes = R::kBytes + kBehind;

  /// By one thread.
  __device__ static void fetch(char* stage, const unsigned char* record, u64* full) {
    constexpr int kFirst = R::kInverse + kTriangleTile;
    constexpr int kSecond = R::kAttention + kTriangleTile;
    barrier_expect(full, R::kBytes);
    bulk_load(stage, record, kFirst, full);
    bulk_load(stage + kFirst + kTriangleGap, record + kFirst, kSecond - kFirst, full);
    bulk_load(stage + kSecond + kBehind, record + kSecond, R::kBytes - kSecond, full);
  }

  /// By all threads of a block, before a barrier.
  __device__ static void clear(char* stage) {
    for (int i = static_cast<int>(threadIdx.x) * 16; i < kTriangleGap;
         i += static_cast<int>(blockDim.x) * 16) {
      *reinterpret_cast<uint4*>(stage + kInverse + kTriangleTile + i) = uint4{0, 0, 0, 0};
      *reinterpret_cast<uint4*>(stage + kAttention + kTriangleTile + i) = uint4{0, 0, 0, 0};
    }
    fence_async_proxy();
  }
};

/// d = or += A T^T, T a triangle in a stage.
__device__ inline void multiply_triangle(float (&d)[32], const u32 (&a)[16], const char* triangle,
                                         bool add) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const u64 columns = wgmma_descriptor_64(triangle + i / 2 * kTriangleTile) + i % 2 * 2;
    wgmma_m64n64k16(d, a + 4 * i, columns, add || i > 0);
  }
}

/// Starts x = S times the keys at `keys`.
template <bool kExact>
__device__ inline void recall(float (&x)[32], const RoundedState<kExact>& state, const char* keys) {
  wgmma_fence();
  multiply<8>(x, state.high, keys, false);
  if constexpr (kExact) multiply<8>(x, state.low, keys, true);
  wgmma_commit();
}

/// V, in bf16, times beta, less x with a factor, all of a pair of columns, as sums of two bf16
/// numbers.
__device__ inline void subtract(u32& values, u32& values_low, float2 beta, float x, float y,
                                float2 factor) {
  split(beta.x * __uint_as_float(values << 16) - factor.x * x,
        beta.y * __uint_as_float(values & 0xffff0000u) - factor.y * y, values, values_low);
}

}  // namespace einkorn::linear_attention::recurrence_detail
