#pragma once

// What the chunks of 64 tokens of a prefill with a gate for each channel are to the recurrence, a
// block of 256 threads for a chunk and value head.
//
// G_i is the sum of log2 decays up to token i of the chunk, for each channel. Nearly all elements
// of the record are q or k times a power of G, and 2^{G_i - G_j} inside the products of q and k has
// to be split into a factor of row i and one of row j that neither overflow nor vanish. Idea: the
// chunk is cut into 4 blocks of 16 tokens. A token's left factor is its decay since the end of the
// block before, its right factor its decay until the end of its own block: exponents at most 0. The
// ends are rounded to whole exponents R, the same for both sides. Then all that is missing between
// a left and a right factor, or between the left factor and kd and qd, is an exact power of two per
// channel, which moves a bf16 number without rounding it again: one image of k and q by left
// factors and one of k by right ones, made with two exponentials an element, serve all blocks of
// both triangular products, the diagonal ones, too, where a right factor is stretched back to the
// block's start, and kd and qd cost one instruction for two elements.
//
// Stretched, factors reach 2^115 (16 tokens at a lower bound of -5). Left factors are shifted up by
// 2^56, right ones by 2^32, so that both stay in the middle of bf16's range; the power of two
// between them takes the shifts back. Gates without a bound can do more in 16 tokens. Such a
// diagonal block is flagged (one comparison a channel) and made by stage_diagonal_exactly, many
// times slower; outside the diagonal no exponent is ever positive.
//
// What o misses comes from roundings to bf16: of mqk and of o itself (0.0017 each, relative RMS),
// of q's and k's factors (0.0024 together), and of the inverse. That beta is part of the keys and
// of V, which the recurrence multiplies in f32, leaves ones on the inverse's diagonal, which are
// exact; so is q k of a token with itself, which does not decay and is taken from q and k as they
// came. That makes 0.0025 of o where gates forget fast, 0.0035 where they do not; with beta in the
// inverse it is 0.0029 and 0.0039, and a second bf16 number for q's factors takes less off, 0.0002,
// at 45 us (bench/linear_attention/roundings.py).
//
// With tensor maps the copy engine brings q, k and the gates of whole chunks, and takes updates and
// attention: a thousand instructions less in a block, a tenth less for the L1, and few enough
// registers for four blocks on a multiprocessor. But it begins later than threads' own copies, 2 us
// of a block's 14.
//
// A thread has 2 channels and 16 tokens throughout, so that a warp reads and writes whole lines of
// 128 bytes of the gates, of kd and of qd without staging, the images replace q and k where they
// lie, and sums over tokens need one exchange of 4 totals. The updates wait in registers for their
// place until the products are through. Sums of squares for the l2 norm are the diagonals of
// products of 16 rows with themselves, whose two operands are the same registers. The unit lower
// triangular I + Akk is inverted in 16 x 16 by substitution in f32 (a series would cancel where
// keys repeat), and put together by tf32 products, whose results stay in registers as the next
// operand.
//
// Work of a block, by ncu: 17,000 instructions of a warp, 59 % of what a multiprocessor issues
// meanwhile, and 4,700 wavefronts of shared memory; with global accesses the L1 is at 75 %, DRAM at
// 57 %. A third of the instructions are the elements', 45 for 2 channels of a token; a quarter of a
// block's time is over before its gates have come.

#include "ops/linear_attention/chunk_params.h"
#include "ops/linear_attention/gate_terms.cuh"
#include "ops/linear_attention/products.cuh"
#include "ops/linear_attention/progress.cuh"
#include "ops/linear_attention/sequence_table.cuh"
#include "ops/linear_attention/triangle.cuh"
#include "src/cuda/device/common/cache.cuh"
#include "src/cuda/device/common/cp_async.cuh"
#include "src/cuda/device/common/math.cuh"
#include "src/cuda/device/common/mma.cuh"
#include "src/cuda/device/common/pdl.cuh"
#include "src/cuda/device/common/vec.cuh"
#include "src/cuda/device/common/warp.cuh"
#include "src/cuda/device/sm90/tensor.cuh"

namespace einkorn::linear_attention {

namespace prepare_detail {

inline constexpr int kBlock = 16;  // tokens of a block
inline constexpr int kBlocks = kChunkTokens / kBlock;
inline constexpr int kLeftShift = 56;
inline constexpr int kRightShift = 32;
inline constexpr float kUnshift = 0x1p-88f;
// How far a channel may decay within a block that factors serve: a lower bound of -5 for 16 tokens,
// and what rounding the ends adds.
inline constexpr float kWidest = 116;
// Rows of the f32 matrices: a multiple of 4 for wide reads, 4 modulo 32 against bank conflicts.
inline constexpr int kRow = 68;

// Shared memory, in bytes.
inline constexpr int kTile = 8192;  // 64 rows of 64 elements
inline constexpr int kQAt = 0;
inline constexpr int kKAt = 2 * kTile;
inline constexpr int kRightAt = 4 * kTile;
// The gates come to where the right image will be. Tables are behind both.
template <class GT>
struct Tables {
  static constexpr int kTotals = kRightAt + kChunkTokens * kChunkDim * int{sizeof(GT)};
  static constexpr int kRatios = kTotals + 2048;  // bf16 [8][128]; totals f32 [4][128]
  static constexpr int kNorms = kRatios + 2048;   // f32 [64][2]: of q, of k
  static constexpr int kBetas = kNorms + 512;     // f32 [64]
  static constexpr int kProducts = kBetas + 256;  // f32 [64]: q k of each token
  static constexpr int kFlags = kProducts + 256;  // u32 [8]
  static constexpr int kLoaded = kFlags + 32;     // barriers: gates; q and k
  static constexpr int kBytes = kLoaded + 16;
};
static_assert(Tables<bf16>::kBytes <= kPrepareSmem && Tables<float>::kBytes <= kPrepareWideSmem);
// Once the images are used up:
inline constexpr int kMqkStageAt = 0;  // as in the record
inline constexpr int kAkkAt = 8192;    // f32 [64][kRow], and in its place the inverse
inline constexpr int kAkkEnd = kAkkAt + 4 * kChunkTokens * kRow;
inline constexpr int kUpdatesAt = 4 * kTile;  // as in the record
inline constexpr u32 kUpdatesBytes = 2 * kChunkTokens * kChunkDim;
static_assert(kAkkEnd <= kUpdatesAt);

__device__ inline float round_to_tf32(float x) {
  return __uint_as_float(__float_as_uint(x * kTf32ToNearest) & 0xffffe000u);
}

// Rows of the ratios: 0 to 3 for the diagonal blocks, then those of the pairs of blocks.
inline constexpr int kRatio20 = 4;
inline constexpr int kRatio31 = 5;
inline constexpr int kRatio30 = 6;
inline constexpr int kRatioOne = 7;

/// Into the record, which this kernel does not read.
template <class P>
__device__ inline void store_once(unsigned char* to, P value) {
  store_piece<Cache::kNoAllocate>(reinterpret_cast<P*>(to), value);
}

/// The betas of a chunk into the record, by its first threads.
__device__ inline void store_betas(unsigned char* to, const float* betas, int thread) {
  if (thread >= kChunkTokens / 4) return;
  store_once(to + thread * 16, reinterpret_cast<const uint4*>(betas)[thread]);
}

/// What a lane 4g + g / 2 gets of 16 rows of an image, the others nothing of use: sums of squares
/// of rows g and g + 8, and the product of row g + 8 kHalf with the same row of the other image.
struct RowSums {
  float squares[2];
  float product;
};

template <bool kSquares>
__device__ inline RowSums sum_rows(const unsigned char* image, const unsigned char* other, int half,
                                   int first_row, int lane) {
  float low[4] = {};
  float high[4] = {};
  float both[4] = {};
  const int place = (first_row + lane % 16) * 128;
  const int piece = lane / 16 ^ lane % 8;
  const unsigned char* other_row = other + (first_row + 8 * half + lane % 8) * 128;
  const int other_piece = lane / 8 % 2 ^ lane % 8;
#pragma unroll
  for (int step = 0; step < kChunkDim / 16; ++step) {
    const int at = place + step / 4 * kTile + (piece ^ step % 4 * 2) * 16;
    u32 a[4];
    u32 b[2];
    ldmatrix(a, image + at);
    ldmatrix(b, other_row + step / 4 * kTile + (other_piece ^ step % 4 * 2) * 16);
    if constexpr (kSquares) {
      const u32 rows_low[2] = {a[0], a[2]};
      const u32 rows_high[2] = {a[1], a[3]};
      mma_m16n8k16<bf16>(low, a, rows_low);
      mma_m16n8k16<bf16>(high, a, rows_high);
    }
    mma_m16n8k16<bf16>(both, a, b);
  }
  const bool even = lane / 4 % 2 == 0;
  return {{even ? low[0] : low[1], even ? high[2] : high[3]},
          half == 0 ? (even ? both[0] : both[1]) : (even ? both[2] : both[3])};
}

/// 16 x 16 products of rows `i0`.. of the left images, of q, of k, or of both, with rows `j0`.. of
/// the right image, whose channels are multiplied by `ratios` first.
template <bool kQ, bool kK>
__device__ inline void multiply_block(float (&d)[kQ + kK][2][4], const unsigned char* shared,
                                      const unsigned char* ratios, int i0, int j0, int lane) {
  const unsigned char* a_row = shared + (i0 + lane % 16) * 128;
  const int a_piece = lane / 16 ^ lane % 8;
  const unsigned char* b_row = shared + kRightAt + (j0 + lane % 8 + lane / 16 * 8) * 128;
  const int b_piece = lane / 8 % 2 ^ lane % 8;
  const unsigned char* ratio = ratios + lane % 4 * 4;
#pragma unroll
  for (int step = 0; step < kChunkDim / 16; ++step) {
    const int tile = step / 4 * kTile;
    const int flip = step % 4 * 2;
    u32 b[4];
    ldmatrix(b, b_row + tile + (b_piece ^ flip) * 16);
    const u32 low = *reinterpret_cast<const u32*>(ratio + step * 32);
    const u32 high = *reinterpret_cast<const u32*>(ratio + step * 32 + 16);
    const u32 b0[2] = {multiply_bf16x2(b[0], low), multiply_bf16x2(b[1], high)};
    const u32 b1[2] = {multiply_bf16x2(b[2], low), multiply_bf16x2(b[3], high)};
    const auto add = [&](float (&sums)[2][4], int image) {
      u32 a[4];
      ldmatrix(a, a_row + image + tile + (a_piece ^ flip) * 16);
      mma_m16n8k16<bf16>(sums[0], a, b0);
      mma_m16n8k16<bf16>(sums[1], a, b1);
    };
    if constexpr (kQ) add(d[0], kQAt);
    if constexpr (kK) add(d[kQ], kKAt);
  }
}

/// A block of scaled q k^T into the staged image of mqk; kDiagonal: with zeros above the diagonal,
/// and what does not decay, token by token, as it has been found without factors (`exact`, those of
/// rows g and g + 8).
template <bool kDiagonal>
__device__ inline void stage_mqk(const float (&d)[2][4], const float (&exact)[2],
                                 unsigned char* stage, int i0, int j0, int lane) {
  const int g = lane / 4;
  const int t = lane % 4;
#pragma unroll
  for (int n = 0; n < 2; ++n) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int i = g + 8 * h;
      const int j = 8 * n + 2 * t;
      float x = d[n][2 * h];
      float y = d[n][2 * h + 1];
      if constexpr (kDiagonal) {
        // By selection: what stands above may be infinite.
        x = i > j ? x : i == j ? exact[h] : 0.0f;
        y = i > j + 1 ? y : i == j + 1 ? exact[h] : 0.0f;
      } else {
        x *= kUnshift;
        y *= kUnshift;
      }
      *reinterpret_cast<u32*>(stage + triangle_place(i0 + i, j0 / 8 + n) + t * 4) =
          pack2<bf16>(x, y);
    }
  }
}

/// A block of beta k k^T into the f32 matrix; kDiagonal: strictly lower; else made ready for tf32.
template <bool kDiagonal>
__device__ inline void stage_akk(const float (&d)[2][4], float* akk, int i0, int j0, int lane) {
  const int g = lane / 4;
  const int t = lane % 4;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int i = g + 8 * h;
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const int j = 8 * n + 2 * t;
      float2 out{d[n][2 * h], d[n][2 * h + 1]};
      if constexpr (kDiagonal) {
        out.x = i > j ? out.x : 0.0f;
        out.y = i > j + 1 ? out.y : 0.0f;
      } else {
        out.x *= kUnshift * kTf32ToNearest;
        out.y *= kUnshift * kTf32ToNearest;
      }
      *reinterpret_cast<float2*>(akk + (i0 + i) * kRow + j0 + j) = out;
    }
  }
}

/// Inverse of I + Akk of a diagonal block, in its place, lane j % 16 for column j.
__device__ inline void invert_diagonal(float* akk, int i0, int lane) {
  const int j = lane % 16;
  float x[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    x[i] = i == j ? 1.0f : 0.0f;
#pragma unroll
    for (int m = 0; m < i; m += 4) {
      const float4 a = *reinterpret_cast<const float4*>(akk + (i0 + i) * kRow + i0 + m);
      x[i] -= a.x * x[m];
      if (m + 1 < i) x[i] -= a.y * x[m + 1];
      if (m + 2 < i) x[i] -= a.z * x[m + 2];
      if (m + 3 < i) x[i] -= a.w * x[m + 3];
    }
  }
  __syncwarp();
  if (lane >= 16) return;
#pragma unroll
  for (int i = 0; i < 16; ++i) akk[(i0 + i) * kRow + i0 + j] = round_to_tf32(x[i]);
}

/// d += A B, 16 x 16 all, of matrices in shared memory made ready for tf32.
__device__ inline void multiply_tf32(float (&d)[2][4], const float* a, const float* b, int lane) {
  const int g = lane / 4;
  const int t = lane % 4;
#pragma unroll
  for (int step = 0; step < 16; step += 8) {
    const float* from = a + g * kRow + step + t;
    const u32 left[4] = {__float_as_uint(from[0]), __float_as_uint(from[8 * kRow]),
                         __float_as_uint(from[4]), __float_as_uint(from[8 * kRow + 4])};
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const float* rows = b + (step + t) * kRow + 8 * n + g;
      const u32 right[2] = {__float_as_uint(rows[0]), __float_as_uint(rows[4 * kRow])};
      mma_tf32_m16n8k8(d[n], left, right);
    }
  }
}

/// d -= P B, P a result of multiply_tf32 in its registers. A lane holds columns 2t and 2t + 1 of a
/// product, but t and t + 4 of an operand; the sum runs over columns, so their order may be any
/// that B's rows follow.
__device__ inline void subtract_product(float (&d)[2][4], const float (&p)[2][4], const float* b,
                                        int lane) {
  const int g = lane / 4;
  const int t = lane % 4;
#pragma unroll
  for (int step = 0; step < 2; ++step) {
    const u32 left[4] = {__float_as_uint(p[step][0] * -kTf32ToNearest),
                         __float_as_uint(p[step][2] * -kTf32ToNearest),
                         __float_as_uint(p[step][1] * -kTf32ToNearest),
                         __float_as_uint(p[step][3] * -kTf32ToNearest)};
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const float* rows = b + (8 * step + 2 * t) * kRow + 8 * n + g;
      const u32 right[2] = {__float_as_uint(rows[0]), __float_as_uint(rows[kRow])};
      mma_tf32_m16n8k8(d[n], left, right);
    }
  }
}

__device__ inline void store_block(const float (&d)[2][4], float* to, int lane) {
  float* first = to + lane / 4 * kRow + lane % 4 * 2;
#pragma unroll
  for (int n = 0; n < 2; ++n) {
    *reinterpret_cast<float2*>(first + 8 * n) = {round_to_tf32(d[n][0]), round_to_tf32(d[n][1])};
    *reinterpret_cast<float2*>(first + 8 * kRow + 8 * n) = {round_to_tf32(d[n][2]),
                                                            round_to_tf32(d[n][3])};
  }
}

/// Zeros in the two blocks of mqk above the diagonal that a triangle has, by warps 0 and 1.
__device__ inline void clear_above(unsigned char* mqk, int w, int lane) {
  if (w >= 2) return;
  const int row = 2 * w * kBlock + lane / 2;
  const int piece = 2 * (2 * w + 1) + lane % 2;
  *reinterpret_cast<uint4*>(mqk + triangle_place(row, piece)) = uint4{0, 0, 0, 0};
}

/// The updates of 2 channels and a block's tokens to where they are staged.
__device__ inline void stage_updates(unsigned char* shared, const u32 (&kr)[2][kBlock / 2],
                                     int block, int channel) {
#pragma unroll
  for (int c = 0; c < 2; ++c) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int piece = (block * 2 + half) ^ (channel + c) % 8;
      *reinterpret_cast<uint4*>(shared + kUpdatesAt + (channel + c) * 128 + piece * 16) = {
          kr[c][half * 4], kr[c][half * 4 + 1], kr[c][half * 4 + 2], kr[c][half * 4 + 3]};
    }
  }
}

/// Staged updates into the record, by 128 threads.
__device__ inline void store_updates(unsigned char* to, const unsigned char* shared, int thread) {
#pragma unroll
  for (int n = 0; n < 8; ++n) {
    const int place = (n * 128 + thread) * 16;
    store_once(to + place, *reinterpret_cast<const uint4*>(shared + kUpdatesAt + place));
  }
}
/// And staged mqk.
__device__ inline void store_attention(unsigned char* to, const unsigned char* shared, int thread) {
#pragma unroll
  for (int n = 0; n < kTriangleBytes / 2048; ++n) {
    const int place = (n * 128 + thread) * 16;
    store_once(to + place, *reinterpret_cast<const uint4*>(shared + kMqkStageAt + place));
  }
}

/// Puts the inverse together from those of the diagonal blocks, block by block in the place of
/// Akk's, and into the record's part at `to`, by 128 threads.
__device__ inline void store_inverse(unsigned char* to, float* inverse, int thread) {
  const int warp = thread / 32;
  const int lane = thread % 32;
  // X_IJ = -X_II Akk_IJ X_JJ, first for neighbours, then for halves of the chunk.
  const auto at = [](int i, int j) { return i * kBlock * kRow + j * kBlock; };
  if (warp < 2) {
    const int low = 2 * warp;
    float product[2][4] = {};
    float out[2][4] = {};
    multiply_tf32(product, inverse + at(low + 1, low + 1), inverse + at(low + 1, low), lane);
    subtract_product(out, product, inverse + at(low, low), lane);
    __syncwarp();
    store_block(out, inverse + at(low + 1, low), lane);
  }
  named_barrier(1, 128);
  {
    const int i = 2 + warp % 2;
    const int j = warp / 2;
    float out[2][4] = {};
    for (int m = j; m < 2; ++m) {
      float product[2][4] = {};
      for (int l = 2; l <= i; ++l) {
        multiply_tf32(product, inverse + at(i, l), inverse + at(l, m), lane);
      }
      subtract_product(out, product, inverse + at(m, j), lane);
    }
    named_barrier(1, 128);  // Akk is used up
    store_block(out, inverse + at(i, j), lane);
  }
  named_barrier(1, 128);

  // Two halves of the first tile, and the second.
#pragma unroll
  for (int n = 0; n < 3; ++n) {
    const int row = thread / 4 + (n == 0 ? 0 : 32);
    const int piece = thread % 4 + (n == 2 ? 4 : 0);
    uint4 out{0, 0, 0, 0};
    if (piece * 8 <= row) {
      const float4* from = reinterpret_cast<const float4*>(inverse + row * kRow + piece * 8);
      const float4 x = from[0];
      const float4 y = from[1];
      out = {pack2<bf16>(x.x, x.y), pack2<bf16>(x.z, x.w), pack2<bf16>(y.x, y.y),
             pack2<bf16>(y.z, y.w)};
    }
    store_once(to + triangle_place(row, piece), out);
  }
}

/// Rows of a chunk into a swizzled image, zeros from row `valid` on; kFull: there are 64.
template <bool kFull>
__device__ inline void load_image(unsigned char* image, const bf16* from, i64 stride, int valid,
                                  int thread) {
  const int piece = thread % 16;
  const int row0 = thread / 16;
  unsigned char* to = image + piece / 8 * kTile + row0 * 128 + (piece % 8 ^ row0 % 8) * 16;
  const bf16* source = from + row0 * stride + piece * 8;
  constexpr int kStep = kPrepareThreads / 16;
  static_assert(kStep % 8 == 0);  // keeps row % 8, and with it the piece's place
#pragma unroll
  for (int i = 0; i < kChunkTokens / kStep; ++i) {
    const bool inside = kFull || row0 + i * kStep < valid;
    if constexpr (kFull) {
      cp_async<16>(to + i * kStep * 128, source);
    } else {
      cp_async_fill<16>(to + i * kStep * 128, inside ? source : from, inside ? 16 : 0);
    }
    source += kStep * stride;
  }
}

/// Sums of the log2 decays of 2 channels and 16 tokens from the first on; tokens from `valid` on do
/// not decay. Gates lie in rows of 64 from `gates` on.
template <class GT, Gate kGate, bool kFull>
__device__ inline void sum_decays(float (&sum)[kBlock][2], const GT* gates, int valid,
                                  const GateTerms& terms) {
  float running[2] = {0, 0};
#pragma unroll
  for (int i = 0; i < kBlock; ++i) {
    float2 pair;
    if constexpr (sizeof(GT) == 4) {
      pair = *reinterpret_cast<const float2*>(gates + i * 64);
    } else {
      pair = unpack2<GT>(*reinterpret_cast<const u32*>(gates + i * 64));
    }
    const float g[2] = {pair.x, pair.y};
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const float decay =
          bounded<kGate>(log2_decay<kGate>(g[c], terms.factor, terms.bias[c], terms.bound));
      running[c] += kFull || i < valid ? decay : 0.0f;
      sum[i][c] = running[c];
    }
  }
}

/// Tokens of a chunk: the first among all, and how many.
struct ChunkTokens {
  i64 first;
  int count;
};

__device__ inline ChunkTokens find_tokens(const SequenceTable& sequences, int chunk) {
  if (sequences.starts == nullptr && sequences.count == 1) {
    const int left = sequences.tokens - chunk * kChunkTokens;
    return {i64{chunk} * kChunkTokens, left < kChunkTokens ? left : kChunkTokens};
  }
  const Part part = find_chunk(sequences, chunk);
  return {part.token, part.sequence < sequences.count ? part.tokens : 0};
}

/// The block's chunk among all.
__device__ inline int chunk_of_block(const PrepareParams& p) {
  return find_chunk_of_block(p.sequences, p.slice,
                             static_cast<int>(blockIdx.z * gridDim.y + blockIdx.y),
                             static_cast<int>(gridDim.z * gridDim.y));
}

/// A chunk's record, worked out where this is called and not again: the chunk's number takes a
/// register less meanwhile, and no store multiplies anew.
__device__ inline unsigned char* record_of(const PrepareParams& p, int chunk, int head) {
  asm volatile("" : "+r"(chunk));
  unsigned char* record = p.records + (i64{chunk} * p.value_heads + head) * Record::kBytes;
  asm volatile("" : "+l"(record));
  return record;
}

/// Both products of a diagonal block whose decays are too wide for factors, into mqk and Akk. Lanes
/// 16 apart share a column j and have half of the channels each: k_j decays from token to token on
/// its way down the rows, so that no exponent is positive and nothing can overflow.
template <class GT, Gate kGate, bool kL2norm>
__device__ inline void stage_diagonal_exactly(const PrepareParams& p, const float* norms,
                                              const float* betas, unsigned char* mqk, float* akk,
                                              int i0, int lane) {
  // Found anew: it is not worth registers on the usual way.
  const int head = static_cast<int>(blockIdx.x);
  const ChunkTokens tokens = find_tokens(p.sequences, chunk_of_block(p));
  const int j = lane % 16;
  const int half = lane / 16;
  float q_sum[kBlock] = {};
  float k_sum[kBlock] = {};
  const bool inside = i0 + j < tokens.count;
  const i64 row = tokens.first + i0 + j;
  const bf16* q_row = static_cast<const bf16*>(p.q) + row * p.q_token + head / p.group * p.q_head;
  const bf16* k_row = static_cast<const bf16*>(p.k) + row * p.k_token + head / p.group * p.k_head;
  const GT* g_row = static_cast<const GT*>(p.g) + row * p.g_token + head * p.g_head;
  // Whole addresses: as sums they would be spilled.
  asm("" : "+l"(q_row), "+l"(k_row), "+l"(g_row));
#pragma unroll 1
  for (int c = half * 64; c < half * 64 + 64; ++c) {
    float q = 0;
    float k = 0;
    float decay = 1;
    if (inside) {
      q = to_float(q_row[c]);
      k = to_float(k_row[c]);
      const float bias =
          kGate == Gate::kSoftplus && p.dt_bias != nullptr ? p.dt_bias[head * kChunkDim + c] : 0.0f;
      const GateTerms terms = gate_terms<kGate>(p, load_terms(p, head, {bias, 0}));
      decay = exp2_approx(bounded<kGate>(
          log2_decay<kGate>(to_float(g_row[c]), terms.factor, terms.bias[0], terms.bound)));
    }
    float key = 0;
#pragma unroll
    for (int i = 0; i < kBlock; ++i) {
      const int from = half * 16 + i;
      key *= __shfl_sync(kFullWarp, decay, from);
      if (i == j) key = k;
      q_sum[i] += __shfl_sync(kFullWarp, q, from) * key;
      k_sum[i] += __shfl_sync(kFullWarp, k, from) * key;
    }
  }
  const float norm = kL2norm ? norms[(i0 + j) * 2 + 1] : 1.0f;
#pragma unroll
  for (int i = 0; i < kBlock; ++i) {
    const float q_all = q_sum[i] + __shfl_xor_sync(kFullWarp, q_sum[i], 16);
    const float k_all = k_sum[i] + __shfl_xor_sync(kFullWarp, k_sum[i], 16);
    const float q_norm = kL2norm ? norms[(i0 + i) * 2] : p.scale;
    const float k_norm = kL2norm ? norms[(i0 + i) * 2 + 1] : 1.0f;
    if (half == 0) {
      *reinterpret_cast<bf16*>(mqk + triangle_place(i0 + i, (i0 + j) / 8) + j % 8 * 2) =
          from_float<bf16>(i >= j ? q_all * q_norm * norm : 0.0f);
    } else {
      akk[(i0 + i) * kRow + i0 + j] = i > j ? k_all * k_norm * norm * betas[i0 + i] : 0.0f;
    }
  }
}

/// The gates of 16 tokens and 64 channels on their way into shared memory, in rows, by the warp
/// that will use them.
template <class GT, bool kFull>
__device__ inline void copy_gates(unsigned char* to, const GT* from, i64 stride, int valid,
                                  int lane) {
  constexpr int kInPiece = 16 / sizeof(GT);
  constexpr int kPieces = 64 / kInPiece;
  constexpr int kRows = 32 / kPieces;  // a step
  const int first = lane / kPieces;
  const GT* source = from + first * stride + lane % kPieces * kInPiece;
  to += lane * 16;
#pragma unroll
  for (int i = 0; i < kBlock / kRows; ++i) {
    if constexpr (kFull) {
      cp_async<16>(to + i * 512, source);
    } else {
      const bool inside = first + kRows * i < valid;
      cp_async_fill<16>(to + i * 512, inside ? source : from, inside ? 16 : 0);
    }
    source += kRows * stride;
  }
}

/// All loads of a whole chunk by the copy engine, by one thread: gates, in rows of 64, arrive at
/// the first barrier, q and k at the second.
template <class GT>
__device__ inline void start_copies(const MappedPrepareParams& p, unsigned char* shared,
                                    u64* loaded, int token, int head, int shared_head) {
  barrier_init(&loaded[0], 1);
  barrier_init(&loaded[1], 1);
  fence_barrier_init();
  constexpr u32 kGateBytes = kChunkTokens * 64 * sizeof(GT);
  barrier_expect(&loaded[0], 2 * kGateBytes);
  barrier_expect(&loaded[1], 4 * kTile);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    tensor_load(shared + kRightAt + half * kGateBytes, p.g_map, half * 64, head, token, &loaded[0]);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    tensor_load(shared + kQAt + half * kTile, p.q_map, half * 64, shared_head, token, &loaded[1]);
    tensor_load(shared + kKAt + half * kTile, p.k_map, half * 64, shared_head, token, &loaded[1]);
  }
}

/// Has all loads of a block under way before the first result is waited for: a group of gates,
/// then one of q and k.
template <class GT, bool kFull>
__device__ inline void start_loads(const PrepareParams& p, unsigned char* shared,
                                   unsigned char* gates, const bf16* q, const bf16* k, const GT* g,
                                   int valid, int row0, int thread) {
  copy_gates<GT, kFull>(gates, g, p.g_token, valid - row0, thread % 32);
  cp_async_commit_group();
  load_image<kFull>(shared + kQAt, q, p.q_token, valid, thread);
  load_image<kFull>(shared + kKAt, k, p.k_token, valid, thread);
  cp_async_commit_group();
}

}  // namespace prepare_detail

/// A block's work. Grid: value heads; chunks, in y and z together. 16 bytes divide every
/// address of q, k and g, 128 that of the records.
template <class GT, class BT, Gate kGate, Beta kBeta, bool kDoubled, bool kL2norm, class P>
__device__ inline void prepare(const P& p) {
  using namespace prepare_detail;
  extern __shared__ __align__(1024) char shared_memory[];
  unsigned char* const shared = reinterpret_cast<unsigned char*>(shared_memory);
  using Places = Tables<GT>;
  float* const totals = reinterpret_cast<float*>(shared + Places::kTotals);
  float* const norms = reinterpret_cast<float*>(shared + Places::kNorms);
  float* const betas = reinterpret_cast<float*>(shared + Places::kBetas);
  float* const products = reinterpret_cast<float*>(shared + Places::kProducts);
  // So that it is known to be positive.
  const int thread = static_cast<int>(threadIdx.x % kPrepareThreads);
  const int lane = thread % 32;
  const int warp = thread / 32;

  const int head = static_cast<int>(blockIdx.x);
  const int chunk = chunk_of_block(p);
  const int shared_head = p.group == 1 ? head : head / p.group;
  const auto [first, valid] = find_tokens(p.sequences, chunk);
  if (valid <= 0) return;

  // This thread's channels and tokens.
  const int block = warp / 2;
  const int row0 = block * kBlock;
  const int channel = warp % 2 * 64 + lane * 2;

  constexpr bool kMapped = P::kMapped;
  bool mapped = false;  // of a whole chunk
  u64* const loaded = reinterpret_cast<u64*>(shared + Places::kLoaded);
  if constexpr (kMapped) {
    mapped = valid == kChunkTokens && p.mapped != 0;
    if (mapped && thread == 0) {
      start_copies<GT>(p, shared, loaded, static_cast<int>(first), head, shared_head);
    }
  }

  float sum[kBlock][2];
  {
    const bf16* q = static_cast<const bf16*>(p.q) + first * p.q_token + shared_head * p.q_head;
    const bf16* k = static_cast<const bf16*>(p.k) + first * p.k_token + shared_head * p.k_head;
    const GT* g = static_cast<const GT*>(p.g) + first * p.g_token + head * p.g_head;
    g += row0 * p.g_token + warp % 2 * 64;
    // By warps, or, as the copy engine puts them, by halves.
    const int rows = kMapped ? warp % 2 * kChunkTokens + row0 : warp * kBlock;
    unsigned char* const to = shared + kRightAt + rows * (64 * sizeof(GT));
    const RawTerms raw_terms = load_channel_terms<kGate>(p, head, channel);
    BT raw_beta{};
    if (thread < valid) {
      raw_beta =
          static_cast<const BT*>(p.beta)[(first + thread) * p.beta_token + head * p.beta_head];
    }
    __syncwarp();  // or the assembler has these loads begin when the gates have come
    if constexpr (kMapped) {
      if (mapped) {
        __syncthreads();
        barrier_wait(&loaded[0], 0);
      }
    }
    if (!mapped) {
      if (!kMapped && valid == kChunkTokens) [[likely]] {
        start_loads<GT, true>(p, shared, to, q, k, g, valid, row0, thread);
      } else {
        start_loads<GT, false>(p, shared, to, q, k, g, valid, row0, thread);
      }
      cp_async_wait_group<1>();
      __syncwarp();
    }
    const GateTerms terms = gate_terms<kGate>(p, raw_terms);
    const GT* const gates = reinterpret_cast<const GT*>(to) + lane * 2;
    if (valid == kChunkTokens) [[likely]] {
      sum_decays<GT, kGate, true>(sum, gates, valid - row0, terms);
    } else {
      sum_decays<GT, kGate, false>(sum, gates, valid - row0, terms);
    }
    *reinterpret_cast<float2*>(totals + block * kChunkDim + channel) = {sum[kBlock - 1][0],
                                                                        sum[kBlock - 1][1]};
    if (thread < kChunkTokens) {
      float beta = to_float(raw_beta);
      if constexpr (kBeta == Beta::kLogit) beta = sigmoid_approx(beta);
      if constexpr (kDoubled) beta *= 2;
      betas[thread] = thread < valid ? beta : 0.0f;
    }
  }
  if constexpr (kMapped) {
    if (mapped) barrier_wait(&loaded[1], 0);
  }
  cp_async_wait_all();
  __syncthreads();

  {
    const int tensor = warp % 2;
    const RowSums sums =
        sum_rows<kL2norm>(shared + (tensor == 0 ? kQAt : kKAt),
                          shared + (tensor == 0 ? kKAt : kQAt), tensor, row0, lane);
    const float factor = tensor == 0 ? p.scale : 1.0f;
    const int g = lane / 4;
    if (lane % 4 == g / 2) {
      products[row0 + g + 8 * tensor] = sums.product;
      if constexpr (kL2norm) {
        norms[(row0 + g) * 2 + tensor] = factor * rsqrt_approx(sums.squares[0] + 1e-6f);
        norms[(row0 + g + 8) * 2 + tensor] = factor * rsqrt_approx(sums.squares[1] + 1e-6f);
      }
    }
  }

  unsigned char* record = record_of(p, chunk, head);

  // Whole exponents at the ends of the blocks, and what follows from them. Every warp adds the
  // totals in the same order, so all find the same ends.
  float left_offset[2];   // exponent of a left factor, less the sum inside the block
  float right_offset[2];  // exponent of a right factor, plus that sum
  float last_factor[2];   // from a right factor to the decay until the chunk's end
  u32 start_factor;       // from a left factor to the decay since the chunk's start
  constexpr bool kWide = kGate != Gate::kLowerBound;  // decays know no bound
  unsigned* const flags = reinterpret_cast<unsigned*>(shared + Places::kFlags);
  {
    bool wide = false;
    float start[2];
    float ratio[2];   // of the block with itself
    float ratio2[2];  // of two blocks further apart
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      float total[kBlocks];
#pragma unroll
      for (int b = 0; b < kBlocks; ++b) total[b] = totals[b * kChunkDim + channel + c];
      float before = 0;  // at the start of this thread's block
#pragma unroll
      for (int b = 0; b + 1 < kBlocks; ++b) {
        if (b < block) before += total[b];
      }
      const float end = before + sum[kBlock - 1][c];
      float running = end;
#pragma unroll
      for (int b = 1; b < kBlocks; ++b) {
        if (b > block) running += total[b];
      }
      // At the end of the next one, if there is one.
      const int following = block + 1 < kBlocks ? block + 1 : block;
      const float next = end + totals[following * kChunkDim + channel + c];
      const float whole_before = ceilf(before);
      const float whole_end = ceilf(end);
      const float whole_next = ceilf(next);
      const float whole_first = ceilf(total[0]);
      left_offset[c] = before - whole_before + kLeftShift;
      right_offset[c] = whole_end - before + kRightShift;
      wide = wide || whole_before - whole_end > kWidest;
      last_factor[c] = exp2_approx(running - whole_end - kRightShift);
      start[c] = exp2_approx(whole_before - kLeftShift);
      ratio[c] = exp2_approx(whole_before - whole_end - (kLeftShift + kRightShift));
      ratio2[c] = exp2_approx(block == 3   ? running
                              : block == 2 ? whole_end - whole_first
                                           : whole_next - whole_end);
    }
    if constexpr (kWide) {
      const int any = __any_sync(kFullWarp, wide);
      if (lane == 0) flags[warp] = any != 0;
    }
    start_factor = pack2<bf16>(start[0], start[1]);
    u32* const ratios = reinterpret_cast<u32*>(shared + Places::kRatios) + channel / 2;
    ratios[block * (kChunkDim / 2)] = pack2<bf16>(ratio[0], ratio[1]);
    if (block < 3) {
      static_assert(kRatio31 == kRatio20 + 1 && kRatio30 == kRatio20 + 2);
      ratios[(kRatio20 + block) * (kChunkDim / 2)] = pack2<bf16>(ratio2[0], ratio2[1]);
    } else {
      ratios[kRatioOne * (kChunkDim / 2)] = 0x3f803f80u;
      store_once(record + Record::kDecay + channel * 4,
                 uint2{__float_as_uint(ratio2[0]), __float_as_uint(ratio2[1])});
    }
    store_betas(record + Record::kBetas, betas, thread);
  }
  __syncthreads();

  // The images, in place, and two parts of the record. Rows 8 apart have their pieces at the same
  // places, so they go together.
  u32 kr[2][kBlock / 2];  // the third
  {
    const int at = warp % 2 * kTile + row0 * 128 + lane * 4;
    struct Rows {
      u32 q[2], k[2];
      float4 norm;
      float2 beta;
    };
    const auto load_rows = [&](int pair) {
      Rows rows{};
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int i = pair * 2 + h;
        const unsigned char* const image = shared + (at ^ i % 8 * 16) + i * 128;
        rows.q[h] = *reinterpret_cast<const u32*>(image + kQAt);
        rows.k[h] = *reinterpret_cast<const u32*>(image + kKAt);
      }
      if constexpr (kL2norm) {
        rows.norm = *reinterpret_cast<const float4*>(norms + (row0 + 2 * pair) * 2);
      }
      rows.beta = *reinterpret_cast<const float2*>(betas + row0 + 2 * pair);
      return rows;
    };
#pragma unroll
    for (int step = 0; step < 8; ++step) {
      const int pair = step / 2 + step % 2 * 4;  // of rows
      const Rows rows = load_rows(pair);
      const float4 norm = rows.norm;
      float right[2][2];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int i = pair * 2 + h;
        unsigned char* const image = shared + (at ^ i % 8 * 16) + i * 128;
        unsigned char* const out = record + (at ^ i % 8 * 16) + i * 128;
        const float2 q = unpack2<bf16>(rows.q[h]);
        float2 k = unpack2<bf16>(rows.k[h]);
        float q_norm = p.scale;
        if constexpr (kL2norm) {
          q_norm = h == 0 ? norm.x : norm.z;
          const float k_norm = h == 0 ? norm.y : norm.w;
          k.x *= k_norm;
          k.y *= k_norm;
        }
        const float left[2] = {exp2_approx(sum[i][0] + left_offset[0]),
                               exp2_approx(sum[i][1] + left_offset[1])};
        right[h][0] = k.x * exp2_approx(right_offset[0] - sum[i][0]);
        right[h][1] = k.y * exp2_approx(right_offset[1] - sum[i][1]);
        const float beta = h == 0 ? rows.beta.x : rows.beta.y;
        const u32 q_left = pack2<bf16>(q.x * (q_norm * left[0]), q.y * (q_norm * left[1]));
        const u32 k_left = pack2<bf16>(k.x * (beta * left[0]), k.y * (beta * left[1]));
        *reinterpret_cast<u32*>(image + kQAt) = q_left;
        *reinterpret_cast<u32*>(image + kKAt) = k_left;
        *reinterpret_cast<u32*>(image + kRightAt) = pack2<bf16>(right[h][0], right[h][1]);
        store_once(out + Record::kKeys, multiply_bf16x2(k_left, start_factor));
        store_once(out + Record::kQueries, multiply_bf16x2(q_left, start_factor));
      }
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        kr[c][pair] = pack2<bf16>(right[0][c] * last_factor[c], right[1][c] * last_factor[c]);
      }
    }
  }
  __syncthreads();

  // Triangular products: warps 0 to 3 have a diagonal block of both, the others a block of both
  // and one of either.
  unsigned char* const mqk = shared + kMqkStageAt;
  float* const akk = reinterpret_cast<float*>(shared + kAkkAt);
  const unsigned char* const ratios = shared + Places::kRatios;
  if (warp < kBlocks) {
    const int i0 = warp * kBlock;
    const bool wide = kWide && (flags[2 * warp] | flags[2 * warp + 1]) != 0;
    float d[2][2][4] = {};
    if (!wide) multiply_block<true, true>(d, shared, ratios + warp * 256, i0, i0, lane);
    __syncthreads();  // the images are used up
    stage_updates(shared, kr, block, channel);
    if (!wide) {
      float exact[2];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int i = i0 + lane / 4 + 8 * h;
        exact[h] = products[i] * (kL2norm ? norms[i * 2] * norms[i * 2 + 1] : p.scale);
      }
      stage_mqk<true>(d[0], exact, mqk, i0, i0, lane);
      stage_akk<true>(d[1], akk, i0, i0, lane);
    } else if constexpr (kWide) {
      stage_diagonal_exactly<GT, kGate, kL2norm>(p, norms, betas, mqk, akk, i0, lane);
    }
    __syncwarp();
    invert_diagonal(akk, i0, lane);
  } else {
    const int w = warp - kBlocks;
    const int i = w < 3 ? w + 1 : 3;  // (1, 0), (2, 1), (3, 2), (3, 1)
    const int j = w < 3 ? w : 1;
    const int i2 = w < 2 ? 3 : 2;  // (3, 0) of q and k, (2, 0) of q and k
    const int ratio = w < 3 ? kRatioOne : kRatio31;
    const int ratio2 = w < 2 ? kRatio30 : kRatio20;
    float d[2][2][4] = {};
    float d2[1][2][4] = {};
    multiply_block<true, true>(d, shared, ratios + ratio * 256, i * kBlock, j * kBlock, lane);
    if (w % 2 == 0) {
      multiply_block<true, false>(d2, shared, ratios + ratio2 * 256, i2 * kBlock, 0, lane);
    } else {
      multiply_block<false, true>(d2, shared, ratios + ratio2 * 256, i2 * kBlock, 0, lane);
    }
    __syncthreads();
    stage_updates(shared, kr, block, channel);
    constexpr float kNone[2] = {};
    stage_mqk<false>(d[0], kNone, mqk, i * kBlock, j * kBlock, lane);
    stage_akk<false>(d[1], akk, i * kBlock, j * kBlock, lane);
    if (w % 2 == 0) {
      stage_mqk<false>(d2[0], kNone, mqk, i2 * kBlock, 0, lane);
    } else {
      stage_akk<false>(d2[0], akk, i2 * kBlock, 0, lane);
    }
    clear_above(mqk, w, lane);
  }
  if constexpr (kMapped) fence_async_proxy();
  __syncthreads();
  record = record_of(p, chunk, head);

  if (warp >= kBlocks) {
    if constexpr (kMapped) {
      if (thread == kPrepareThreads - 1) {
        bulk_store(record + Record::kUpdates, shared + kUpdatesAt, kUpdatesBytes);
        bulk_store(record + Record::kAttention, mqk, kTriangleBytes);
        bulk_store_commit();
        bulk_store_wait_read();
      }
    } else {
      store_updates(record + Record::kUpdates, shared, thread % 128);
      store_attention(record + Record::kAttention, shared, thread % 128);
    }
  } else {
    store_inverse(record + Record::kInverse, akk, thread % 128);
  }
}

/// The same as a kernel. GT is the gate's type, BT beta's; kGate and kBeta are the enums' numbers.
template <class P, class GT, class BT, int kGate, int kBeta, bool kDoubled, bool kL2norm,
          int kResident>
__global__ void __launch_bounds__(kPrepareThreads, kResident)
    prepare_chunks(const __grid_constant__ P p) {
  if constexpr (P::kMapped) {  // of all chunks
    allow_next_kernel();
    wait_for_previous_kernel();
  } else {
    begin_preparing(p);
  }
  prepare<GT, BT, static_cast<Gate>(kGate), static_cast<Beta>(kBeta), kDoubled, kL2norm>(p);
  if constexpr (!P::kMapped) end_preparing(p);
}

}  // namespace einkorn::linear_attention
