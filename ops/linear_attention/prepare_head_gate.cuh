#pragma once

// The record of a chunk (chunk_params.h) where a token's decay is one number a head, as in gated
// DeltaNet: a block of 256 threads for a chunk and value head.
//
// The decay between two tokens is a factor of their product as a whole, so q and k are multiplied
// as they came, exactly, and the f32 sums get norms and decay 2^{G_i - G_j} afterwards, whose
// exponent is never positive below the diagonal: safe with any gate. What is above is left out by
// selection. Threads, images and the inverse are those of prepare.cuh.
//
// Either record can be written: the whole one, or that which leaves q and k where they are.

#include "ops/linear_attention/prepare.cuh"

namespace einkorn::linear_attention {
namespace prepare_detail {

/// Where tables are in shared memory. Without the images of a whole record they move up, for more
/// blocks on a multiprocessor.
template <bool kWholeRecord>
struct HeadTables {
  static constexpr int kSums =  // f32 [64]: G
      kWholeRecord ? kUpdatesAt + 2 * kTile : kUpdatesAt;
  static constexpr int kNorms = kSums + 256;   // f32 [64][2]: of q, of k
  static constexpr int kBetas = kNorms + 512;  // f32 [64]
  static constexpr int kBytes = kBetas + 256;
};
static_assert(HeadTables<true>::kBytes <= kPrepareSmem &&
              HeadTables<false>::kBytes <= kPrepareHeadSmem);

/// log2 of the decays of a chunk's tokens, added up from the first on, by one warp. `from` is the
/// gate's element of the first token.
template <class GT, Gate kGate>
__device__ inline void sum_head_decays(float* sums, const PrepareParams& p, const GT* from,
                                       int valid, int head, int lane) {
  const float bias = p.dt_bias != nullptr ? p.dt_bias[head] : 0.0f;
  const GateTerms terms = gate_terms<kGate>(p, load_terms(p, head, {bias, bias}));
  float running = 0;
#pragma unroll
  for (int n = 0; n < kChunkTokens / 32; ++n) {
    const int row = 32 * n + lane;
    float sum = 0;
    if (row < valid) {
      sum = bounded<kGate>(log2_decay<kGate>(to_float(from[row * p.g_token]), terms.factor,
                                             terms.bias[0], terms.bound));
    }
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const float before = __shfl_up_sync(kFullWarp, sum, step);
      if (lane >= step) sum += before;
    }
    sum += running;
    sums[row] = sum;
    running = __shfl_sync(kFullWarp, sum, 31);
  }
}

/// 16 x 16 products of rows `i0`.. of q, of k, or of both, with rows `j0`.. of k.
template <bool kQ, bool kK>
__device__ inline void multiply_rows(float (&d)[kQ + kK][2][4], const unsigned char* shared, int i0,
                                     int j0, int lane) {
  const unsigned char* a_row = shared + (i0 + lane % 16) * 128;
  const int a_piece = lane / 16 ^ lane % 8;
  const unsigned char* b_row = shared + kKAt + (j0 + lane % 8 + lane / 16 * 8) * 128;
  const int b_piece = lane / 8 % 2 ^ lane % 8;
#pragma unroll
  for (int step = 0; step < kChunkDim / 16; ++step) {
    const int tile = step / 4 * kTile;
    const int flip = step % 4 * 2;
    u32 b[4];
    ldmatrix(b, b_row + tile + (b_piece ^ flip) * 16);
    const u32 b0[2] = {b[0], b[1]};
    const u32 b1[2] = {b[2], b[3]};
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

/// Such products with norms and decays: of q into the staged image of mqk, zeros above the
/// diagonal; of k times the row's beta into Akk, zeros from the diagonal on, made ready for tf32
/// unless in a diagonal block. `norms` [64][2], of q with the scale.
template <bool kQ, bool kK>
__device__ inline void stage_decayed(const float (&d)[kQ + kK][2][4], unsigned char* mqk,
                                     float* akk, const float* sums, const float* norms,
                                     const float* betas, int i0, int j0, int lane) {
  const int g = lane / 4;
  const int t = lane % 4;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int i = i0 + g + 8 * h;
    const float beta = betas[i] * norms[2 * i + 1] * (i0 == j0 ? 1.0f : kTf32ToNearest);
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const int j = j0 + 8 * n + 2 * t;
      float factor[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float exponent = sums[i] - sums[j + e];
        factor[e] = exp2_approx(i >= j + e ? exponent : 0.0f) * norms[2 * (j + e) + 1];
      }
      if constexpr (kQ) {
        const float x = i >= j ? d[0][n][2 * h] * norms[2 * i] * factor[0] : 0.0f;
        const float y = i >= j + 1 ? d[0][n][2 * h + 1] * norms[2 * i] * factor[1] : 0.0f;
        *reinterpret_cast<u32*>(mqk + triangle_place(i, j0 / 8 + n) + t * 4) = pack2<bf16>(x, y);
      }
      if constexpr (kK) {
        const float x = i > j ? d[kQ][n][2 * h] * beta * factor[0] : 0.0f;
        const float y = i > j + 1 ? d[kQ][n][2 * h + 1] * beta * factor[1] : 0.0f;
        *reinterpret_cast<float2*>(akk + i * kRow + j) = {x, y};
      }
    }
  }
}

/// What the recurrence takes from a whole record beside the triangles, staged or stored by all
/// threads.
__device__ inline void store_tokens(unsigned char* record, unsigned char* shared, const float* sums,
                                    const float* norms, const float* betas, int thread) {
  const int lane = thread % 32;
  const int warp = thread / 32;
  const int block = warp / 2;
  const int row0 = block * kBlock;
  const int channel = warp % 2 * 64 + lane * 2;
  const float last = sums[kChunkTokens - 1];
  if (thread < kChunkDim / 4) {
    const u32 decay = __float_as_uint(exp2_approx(last));
    store_once(record + Record::kDecay + thread * 16, uint4{decay, decay, decay, decay});
  }
  const int at = warp % 2 * kTile + row0 * 128 + lane * 4;
  u32 kr[2][kBlock / 2];
#pragma unroll
  for (int pair = 0; pair < kBlock / 2; ++pair) {
    float2 update[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int i = pair * 2 + h;
      const int place = (at ^ i % 8 * 16) + i * 128;
      const float2 q = unpack2<bf16>(*reinterpret_cast<const u32*>(shared + kQAt + place));
      const float2 k = unpack2<bf16>(*reinterpret_cast<const u32*>(shared + kKAt + place));
      const float2 norm = *reinterpret_cast<const float2*>(norms + (row0 + i) * 2);
      const float sum = sums[row0 + i];
      const float since = exp2_approx(sum);
      const float q_factor = norm.x * since;
      const float k_factor = betas[row0 + i] * norm.y * since;
      const float until = norm.y * exp2_approx(last - sum);
      store_once(record + Record::kKeys + place, pack2<bf16>(k.x * k_factor, k.y * k_factor));
      store_once(record + Record::kQueries + place, pack2<bf16>(q.x * q_factor, q.y * q_factor));
      update[h] = {k.x * until, k.y * until};
    }
    kr[0][pair] = pack2<bf16>(update[0].x, update[1].x);
    kr[1][pair] = pack2<bf16>(update[0].y, update[1].y);
  }
  stage_updates(shared, kr, block, channel);
}

/// Factors of a chunk's tokens, and its decay, into the record without them.
__device__ inline void store_factors(unsigned char* record, const float* sums, const float* norms,
                                     const float* betas, int thread) {
  const float last = sums[kChunkTokens - 1];
  if (thread < kChunkTokens) {
    const float2 norm = *reinterpret_cast<const float2*>(norms + thread * 2);
    const float since = exp2_approx(sums[thread]);
    const auto store = [&](int part, float value) {
      store_once(record + part + thread * 4, __float_as_uint(value));
    };
    store(HeadRecord::kQueries, norm.x * since);
    store(HeadRecord::kKeys, betas[thread] * norm.y * since);
    store(HeadRecord::kUpdates, norm.y * exp2_approx(last - sums[thread]));
  } else if (thread == kChunkTokens) {
    store_once(record + HeadRecord::kDecay, __float_as_uint(exp2_approx(last)));
  }
}

}  // namespace prepare_detail

/// A block's work. Grid: value heads; chunks, in y and z together. 16 bytes divide every
/// address of q and k, 128 that of the records.
template <class GT, class BT, Gate kGate, Beta kBeta, bool kDoubled, bool kL2norm, class Layout>
__device__ inline void prepare_head_gate(const PrepareParams& p) {
  using namespace prepare_detail;
  constexpr bool kWholeRecord = Layout::kBytes == Record::kBytes;
  using Tables = HeadTables<kWholeRecord>;
  extern __shared__ __align__(1024) char shared_memory[];
  unsigned char* const shared = reinterpret_cast<unsigned char*>(shared_memory);
  float* const sums = reinterpret_cast<float*>(shared + Tables::kSums);
  float* const norms = reinterpret_cast<float*>(shared + Tables::kNorms);
  float* const betas = reinterpret_cast<float*>(shared + Tables::kBetas);
  const int thread = static_cast<int>(threadIdx.x % kPrepareThreads);
  const int lane = thread % 32;
  const int warp = thread / 32;

  const int head = static_cast<int>(blockIdx.x);
  const int chunk = chunk_of_block(p);
  const int shared_head = p.group == 1 ? head : head / p.group;
  const auto [first, valid] = find_tokens(p.sequences, chunk);
  if (valid <= 0) return;

  {
    const bf16* q = static_cast<const bf16*>(p.q) + first * p.q_token + shared_head * p.q_head;
    const bf16* k = static_cast<const bf16*>(p.k) + first * p.k_token + shared_head * p.k_head;
    if (valid == kChunkTokens) {
      load_image<true>(shared + kQAt, q, p.q_token, valid, thread);
      load_image<true>(shared + kKAt, k, p.k_token, valid, thread);
    } else {
      load_image<false>(shared + kQAt, q, p.q_token, valid, thread);
      load_image<false>(shared + kKAt, k, p.k_token, valid, thread);
    }
  }
  if (warp == 0) {
    const GT* g = static_cast<const GT*>(p.g) + first * p.g_token + head * p.g_head;
    sum_head_decays<GT, kGate>(sums, p, g, valid, head, lane);
  } else if (warp < 3) {
    const int row = (warp - 1) * 32 + lane;
    float beta = 0;
    if (row < valid) {
      beta = to_float(
          static_cast<const BT*>(p.beta)[(first + row) * p.beta_token + head * p.beta_head]);
      if constexpr (kBeta == Beta::kLogit) beta = sigmoid_approx(beta);
      if constexpr (kDoubled) beta *= 2;
    }
    betas[row] = beta;
  }
  cp_async_wait_all();
  __syncthreads();

  {
    const int row0 = warp / 2 * kBlock;
    const int tensor = warp % 2;
    const float factor = tensor == 0 ? p.scale : 1.0f;
    if constexpr (kL2norm) {
      const RowSums squares =
          sum_rows<true>(shared + (tensor == 0 ? kQAt : kKAt), shared + kKAt, 0, row0, lane);
      const int g = lane / 4;
      if (lane % 4 == g / 2) {
        norms[(row0 + g) * 2 + tensor] = factor * rsqrt_approx(squares.squares[0] + 1e-6f);
        norms[(row0 + g + 8) * 2 + tensor] = factor * rsqrt_approx(squares.squares[1] + 1e-6f);
      }
    } else {
      if (lane < kBlock) norms[(row0 + lane) * 2 + tensor] = factor;
    }
  }
  unsigned char* record = p.records + (i64{chunk} * p.value_heads + head) * Layout::kBytes;
  __syncthreads();

  if constexpr (kWholeRecord) {
    store_tokens(record, shared, sums, norms, betas, thread);
  } else {
    store_factors(record, sums, norms, betas, thread);
  }
  store_betas(record + Layout::kBetas, betas, thread);

  // Triangular products: warps 0 to 3 have a diagonal block of both, the others a block of both
  // and one of either.
  unsigned char* const mqk = shared + kMqkStageAt;
  float* const akk = reinterpret_cast<float*>(shared + kAkkAt);
  if (warp < kBlocks) {
    const int i0 = warp * kBlock;
    float d[2][2][4] = {};
    multiply_rows<true, true>(d, shared, i0, i0, lane);
    __syncthreads();  // the images are used up
    stage_decayed<true, true>(d, mqk, akk, sums, norms, betas, i0, i0, lane);
    __syncwarp();
    invert_diagonal(akk, i0, lane);
  } else {
    const int w = warp - kBlocks;
    const int i0 = (w < 3 ? w + 1 : 3) * kBlock;  // (1, 0), (2, 1), (3, 2), (3, 1)
    const int j0 = (w < 3 ? w : 1) * kBlock;
    const int i2 = (w < 2 ? 3 : 2) * kBlock;  // (3, 0) of q and k, (2, 0) of q and k
    float d[2][2][4] = {};
    float d2[1][2][4] = {};
    multiply_rows<true, true>(d, shared, i0, j0, lane);
    if (w % 2 == 0) {
      multiply_rows<true, false>(d2, shared, i2, 0, lane);
    } else {
      multiply_rows<false, true>(d2, shared, i2, 0, lane);
    }
    __syncthreads();
    stage_decayed<true, true>(d, mqk, akk, sums, norms, betas, i0, j0, lane);
    if (w % 2 == 0) {
      stage_decayed<true, false>(d2, mqk, akk, sums, norms, betas, i2, 0, lane);
    } else {
      stage_decayed<false, true>(d2, mqk, akk, sums, norms, betas, i2, 0, lane);
    }
    clear_above(mqk, w, lane);
  }
  __syncthreads();

  if (warp >= kBlocks) {
    if constexpr (kWholeRecord) store_updates(record + Record::kUpdates, shared, thread % 128);
    store_attention(record + Layout::kAttention, shared, thread % 128);
  } else {
    store_inverse(record + Layout::kInverse, akk, thread % 128);
  }
}

/// The same as a kernel; its arguments are those of prepare_chunks, and which record is written.
template <class GT, class BT, int kGate, int kBeta, bool kDoubled, bool kL2norm, int kResident,
          bool kHeadRecord>
__global__ void __launch_bounds__(kPrepareThreads, kResident)
    prepare_head_gate_chunks(const __grid_constant__ PrepareParams p) {
  constexpr auto kGateForm = static_cast<Gate>(kGate);
  constexpr auto kBetaForm = static_cast<Beta>(kBeta);
  begin_preparing(p);
  if constexpr (kHeadRecord) {
    prepare_head_gate<GT, BT, kGateForm, kBetaForm, kDoubled, kL2norm, HeadRecord>(p);
  } else {
    prepare_head_gate<GT, BT, kGateForm, kBetaForm, kDoubled, kL2norm, Record>(p);
  }
  end_preparing(p);
}

}  // namespace einkorn::linear_attention
