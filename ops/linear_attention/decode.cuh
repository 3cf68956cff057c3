#pragma once

// The decode kernels of linear attention: what they compute, and for each order of a state's
// dimensions how it moves.
//
// Idea: a call moves states, and little else: 64 KiB read and written for a value head of 128 by
// 128 in f32, against some 2 KiB of everything else. So a thread asks for all of its part of the
// state before it uses any, keeps it in registers over all tokens of the sequence, and writes it
// once. With S' the decayed state, the update needs k^T S' and the result q^T S after the update,
// which is q^T S' + (q^T k) u: both sums are taken in one pass over S', and only one round of
// exchanges between threads stands between reading and writing.
//
// State [V, K] (decode_rows): a row of the state is a row of u and o, and depends on no other. It
// lies in 1 to 32 lanes of a warp, 16 bytes a piece, so sums over K are shuffles and no barrier is
// needed. State [K, V] (decode_columns): a thread has 16 bytes of columns and some of the keys;
// sums over K go through shared memory, one barrier a token.
//
// Everything is f32 between memory and memory; a state in bf16 is rounded when it is written, not
// from token to token.

#include "ops/linear_attention/params.h"
#include "ops/linear_attention/token_step.cuh"
#include "src/cuda/device/common/memory.cuh"
#include "src/cuda/device/common/pdl.cuh"
#include "src/cuda/device/common/types.cuh"
#include "src/cuda/device/common/vec.cuh"

namespace einkorn::linear_attention {

/// Which rows of the pool a sequence reads and writes; -1: none. Entries of the indices are read
/// anew each time, so that one read before the previous kernel has ended decides nothing.
struct PoolRows {
  const DecodeParams& p;
  i64 seq;

  __device__ i64 at(i64 i) const {
    const i64 row = p.index_bytes == 4 ? i64{load_volatile(static_cast<const int*>(p.indices) + i)}
                                       : load_volatile(static_cast<const i64*>(p.indices) + i);
    return row >= 0 && row < p.pool ? row : -1;
  }
  __device__ i64 first() const {
    if (p.index_bytes == 0) return seq;
    if (!p.per_token) return at(seq);
    int token = 0;
    if (p.accepted != nullptr) {
      token = load_volatile(p.accepted + seq) - 1;
      if (token < 0 || token >= p.tokens) return -1;
    }
    return at(seq * p.tokens + token);
  }
  /// `first_row` is what first() gave.
  __device__ i64 after(int token, i64 first_row) const {
    if (p.per_token) return at(seq * p.tokens + token);
    return token + 1 == p.tokens ? first_row : -1;
  }
};

/// What a block works on.
struct Place {
  u32 part;
  int head;  // value head
  i64 seq;
  i64 token0;  // first token of the sequence

  __device__ explicit Place(const DecodeParams& p) {
    part = blockIdx.x % p.parts;
    const u32 index = blockIdx.x / p.parts;
    head = static_cast<int>(index % static_cast<u32>(p.value_heads));
    seq = i64{index / static_cast<u32>(p.value_heads)};
    token0 = seq * p.tokens;
  }
};

// State [V, K].

template <class Tr, int kAlign, int kLanes, int kRows, int kWarps>
struct Rows {
  using T = typename Tr::T;
  using G = typename Tr::G;
  using S = typename Tr::S;
  static constexpr int kVec = Tr::kVec;
  static constexpr int kPieces = Tr::kKeyDim / kVec / kLanes;
  static_assert(kPieces * kVec * kLanes == Tr::kKeyDim, "lanes of whole pieces cover a row");
  using Step = RowStep<Tr, kLanes, kPieces, kRows>;
  static constexpr int kOwn = Step::kOwn;
  static constexpr int kGroups = Step::kGroups;
  static constexpr int kWarpRows = kGroups * kRows;
  using Token = typename Step::Token;
  using Raw = typename Step::Raw;

  const DecodeParams& p;
  Place place;
  PoolRows rows;
  int lane;  // in the row
  int row;   // the thread's first

  __device__ explicit Rows(const DecodeParams& params)
      : p(params), place(params), rows{params, place.seq} {
    const int in_warp = static_cast<int>(threadIdx.x) % 32;
    lane = in_warp % kLanes;
    row = static_cast<int>(place.part) * (kWarps * kWarpRows) +
          static_cast<int>(threadIdx.x) / 32 * kWarpRows + in_warp / kLanes;
  }

  __device__ int column(int piece) const { return (piece * kLanes + lane) * kVec; }
  __device__ bool inside(int r) const { return row + r * kGroups < p.value_dim; }

  __device__ S* state_at(i64 pool_row) const {
    return static_cast<S*>(p.state) +
           ((pool_row * p.value_heads + place.head) * p.value_dim + row) * Tr::kKeyDim;
  }

  __device__ void prefetch() const {
    const i64 first = rows.first();
    if (first < 0) return;
    const S* from = state_at(first);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (!inside(r)) continue;
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        if (column(i) * sizeof(S) % 128 != 0) continue;  // one thread a line
        prefetch_to_l2(from + r * kGroups * Tr::kKeyDim + column(i));
      }
    }
  }

  __device__ Token load_token(int t) const {
    Token out;
    const i64 token = place.token0 + t;
    const int head = place.head / p.group;
    const T* q = head_at<T>(p.q, token, p.q_token, head, p.q_head);
    const T* k = head_at<T>(p.k, token, p.k_token, head, p.k_head);
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      out.q[i] = Vec<T, kVec>::template load<kAlign>(q + column(i));
      out.k[i] = Vec<T, kVec>::template load<kAlign>(k + column(i));
    }
    const G* g = head_at<G>(p.g, token, p.g_token, place.head, p.g_head);
    if constexpr (Tr::kChannelGate) {
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        out.gate[i] = Vec<G, kVec>::template load<kAlign>(g + column(i));
      }
    } else {
      out.gate[0].item[0] = *g;
    }
    if constexpr (Tr::kDelta) {
      using B = typename Tr::B;
      out.beta = static_cast<const B*>(p.beta)[token * p.beta_token + place.head];
    }
    const T* v = head_at<T>(p.v, token, p.v_token, place.head, p.v_head) + row;
#pragma unroll
    for (int r = 0; r < kRows; ++r) out.v[r] = inside(r) ? v[r * kGroups] : T{};
    return out;
  }

  __device__ Raw load_terms() const {
    Raw out = {};
    if constexpr (Tr::kRawGate) {
      if (p.a_log != nullptr) out.a_log = p.a_log[place.head];
      if (p.dt_bias == nullptr) return out;
      if constexpr (Tr::kChannelGate) {
#pragma unroll
        for (int i = 0; i < kPieces; ++i) {
          const float* from = p.dt_bias + place.head * Tr::kKeyDim + column(i);
          const auto piece = Vec<float, kVec>::template load<kAlign>(from);
#pragma unroll
          for (int j = 0; j < kVec; ++j) out.bias[i * kVec + j] = piece.get(j);
        }
      } else {
        out.bias[0] = p.dt_bias[place.head];
      }
    }
    return out;
  }

  __device__ void load_state(i64 pool_row, float (&state)[kRows][kOwn]) const {
    const S* from = state_at(pool_row);
    Vec<S, kVec> raw[kRows][kPieces];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        raw[r][i] = {};
        if (inside(r)) {
          raw[r][i] =
              Vec<S, kVec>::template load<kAlign>(from + r * kGroups * Tr::kKeyDim + column(i));
        }
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int j = 0; j < kOwn; ++j) state[r][j] = raw[r][j / kVec].get(j % kVec);
    }
  }

  __device__ void store_state(i64 pool_row, const float (&state)[kRows][kOwn]) const {
    S* to = state_at(pool_row);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (!inside(r)) continue;
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        float piece[kVec];
#pragma unroll
        for (int j = 0; j < kVec; ++j) piece[j] = state[r][i * kVec + j];
        Vec<S, kVec>::from(piece).template store<kAlign>(to + r * kGroups * Tr::kKeyDim +
                                                         column(i));
      }
    }
  }

  __device__ void store_results(int t, const float (&o)[kRows]) const {
    T* to = static_cast<T*>(p.o) + (place.token0 + t) * p.o_token + place.head * p.o_head + row;
    Step::store(to, o, lane, [this](int r) { return inside(r); });
  }

  __device__ void run() const {
    Token token = load_token(0);
    const Raw raw = load_terms();
    const i64 first = rows.first();
    if (first < 0) return;
    float state[kRows][kOwn];
    load_state(first, state);
    const GateTerms terms = raw.terms(p);
    for (int t = 0;;) {
      float o[kRows];
      Step::step(p, token, raw, terms, state, o);
      if (const i64 to = rows.after(t, first); to >= 0) store_state(to, state);
      store_results(t, o);
      if (++t == p.tokens) return;
      token = load_token(t);
    }
  }
};

/// Grid: one block for kWarps * kRows * (32 / kLanes) rows of a value head's state [V, K], blocks
/// of a head next to each other. kLanes lanes have a row, kAlign bytes divide every address.
template <class Tr, int kAlign, int kLanes, int kRows, int kWarps>
__device__ inline void decode_rows(const DecodeParams& p) {
  const Rows<Tr, kAlign, kLanes, kRows, kWarps> rows(p);
  allow_next_kernel();
  if (blockIdx.x < p.early_blocks) rows.prefetch();
  wait_for_previous_kernel();
  rows.run();
}

// State [K, V].

template <class Tr, int kAlign, int kLanes, int kThreads>
struct Columns {
  using T = typename Tr::T;
  using G = typename Tr::G;
  using S = typename Tr::S;
  static constexpr int kVec = Tr::kVec;  ///< columns of a thread
  static constexpr int kBlockColumns = kLanes * kVec;
  static constexpr int kGroups = kThreads / kLanes;    ///< threads that share the keys
  static constexpr int kKeys = Tr::kKeyDim / kGroups;  ///< of a thread
  static_assert(kKeys * kGroups == Tr::kKeyDim && kLanes <= 32);
  static constexpr int kWarps = kThreads / 32;
  // Of each column: k^T S' and q^T S'; of the head: q k, q q, k k, and one to fill 16 bytes.
  static constexpr int kSums = 2 * kVec + 4;
  using Scratch = float[2][kWarps][kLanes][kSums];
  static constexpr int kDecays = Tr::kChannelGate ? kKeys : 1;
  using Raw = RawTerms<Tr, kDecays>;

  /// What a token brings to the keys and columns of a thread, as it lies in memory.
  struct Token {
    T q[kKeys], k[kKeys];
    G gate[kDecays];
    typename Tr::B beta;
    Vec<T, kVec> v;
  };

  const DecodeParams& p;
  Place place;
  PoolRows rows;
  int lane;   // of the columns
  int group;  // of the keys
  int column;
  bool inside;

  __device__ explicit Columns(const DecodeParams& params)
      : p(params), place(params), rows{params, place.seq} {
    lane = static_cast<int>(threadIdx.x) % kLanes;
    group = static_cast<int>(threadIdx.x) / kLanes;
    column = static_cast<int>(place.part) * kBlockColumns + lane * kVec;
    inside = column < p.value_dim;  // value_dim is a multiple of kVec
  }

  /// Neighbouring groups have neighbouring keys: rows of the state that a warp moves are close.
  __device__ int key(int i) const { return i * kGroups + group; }

  __device__ S* state_at(i64 pool_row) const {
    return static_cast<S*>(p.state) +
           ((pool_row * p.value_heads + place.head) * Tr::kKeyDim + group) * p.value_dim + column;
  }

  __device__ void prefetch() const {
    const i64 first = rows.first();
    if (first < 0 || !inside || lane * kVec * sizeof(S) % 128 != 0) return;
    const S* from = state_at(first);
#pragma unroll
    for (int i = 0; i < kKeys; ++i) prefetch_to_l2(from + i64{i} * kGroups * p.value_dim);
  }

  __device__ Token load_token(int t) const {
    Token out;
    const i64 token = place.token0 + t;
    const int head = place.head / p.group;
    const T* q = head_at<T>(p.q, token, p.q_token, head, p.q_head);
    const T* k = head_at<T>(p.k, token, p.k_token, head, p.k_head);
    const G* g = head_at<G>(p.g, token, p.g_token, place.head, p.g_head);
#pragma unroll
    for (int i = 0; i < kKeys; ++i) {
      out.q[i] = q[key(i)];
      out.k[i] = k[key(i)];
      if constexpr (Tr::kChannelGate) out.gate[i] = g[key(i)];
    }
    if constexpr (!Tr::kChannelGate) out.gate[0] = *g;
    if constexpr (Tr::kDelta) {
      using B = typename Tr::B;
      out.beta = static_cast<const B*>(p.beta)[token * p.beta_token + place.head];
    }
    out.v = {};
    if (inside) {
      out.v = Vec<T, kVec>::template load<kAlign>(
          head_at<T>(p.v, token, p.v_token, place.head, p.v_head) + column);
    }
    return out;
  }

  __device__ Raw load_terms() const {
    Raw out = {};
    if constexpr (Tr::kRawGate) {
      if (p.a_log != nullptr) out.a_log = p.a_log[place.head];
      if (p.dt_bias == nullptr) return out;
#pragma unroll
      for (int i = 0; i < kDecays; ++i) {
        out.bias[i] = p.dt_bias[Tr::kChannelGate ? place.head * Tr::kKeyDim + key(i) : place.head];
      }
    }
    return out;
  }

  __device__ static float decay(const Token& token, int i, const Raw& raw, const GateTerms& terms) {
    return decay_of<Tr>(to_float(token.gate[i]), raw.bias[i], terms);
  }

  /// Sums over the groups of the block; `buffer` alternates, so that one barrier is enough.
  __device__ void block_sums(float (&sums)[kSums], float (&buffer)[kWarps][kLanes][kSums]) const {
#pragma unroll
    for (int offset = kLanes; offset < 32; offset *= 2) {
#pragma unroll
      for (int i = 0; i < kSums - 1; ++i) sums[i] += __shfl_xor_sync(kFullWarp, sums[i], offset);
    }
    if constexpr (kWarps > 1) {
      const int warp = static_cast<int>(threadIdx.x) / 32;
      if (static_cast<int>(threadIdx.x) % 32 < kLanes) {
#pragma unroll
        for (int i = 0; i < kSums; ++i) buffer[warp][lane][i] = sums[i];
      }
      __syncthreads();
#pragma unroll
      for (int i = 0; i < kSums; ++i) sums[i] = buffer[0][lane][i];
#pragma unroll
      for (int w = 1; w < kWarps; ++w) {
#pragma unroll
        for (int i = 0; i < kSums; ++i) sums[i] += buffer[w][lane][i];
      }
    }
  }

  /// One token: the state is updated, and the results of the thread's columns come back.
  __device__ void step(const Token& token, const Raw& raw, const GateTerms& terms,
                       float (&state)[kKeys][kVec], float (&buffer)[kWarps][kLanes][kSums],
                       float (&o)[kVec]) const {
    float sums[kSums] = {};
    float* of_head = sums + 2 * kVec;
    float k[kKeys];
    float head_decay = 0;
    if constexpr (!Tr::kChannelGate) head_decay = decay(token, 0, raw, terms);
#pragma unroll
    for (int i = 0; i < kKeys; ++i) {
      const float q = to_float(token.q[i]);
      k[i] = to_float(token.k[i]);
      float d = head_decay;
      if constexpr (Tr::kChannelGate) d = decay(token, i, raw, terms);
      of_head[0] += q * k[i];
      of_head[1] += q * q;
      of_head[2] += k[i] * k[i];
#pragma unroll
      for (int j = 0; j < kVec; ++j) {
        state[i][j] *= d;
        sums[j] += k[i] * state[i][j];
        sums[kVec + j] += q * state[i][j];
      }
    }
    block_sums(sums, buffer);
    float k_scale = 1;
    float q_scale = p.scale;
    if constexpr (Tr::kL2norm) {
      k_scale = rsqrtf(of_head[2] + kNormEps);
      q_scale *= rsqrtf(of_head[1] + kNormEps);
    }
    float beta = 1;
    if constexpr (Tr::kDelta) beta = beta_of<Tr>(to_float(token.beta), p);
    float u[kVec];
#pragma unroll
    for (int j = 0; j < kVec; ++j) {
      const float v = token.v.get(j);
      // Times k's scale: the state takes u times k as it lies in memory.
      u[j] = k_scale * (Tr::kDelta ? beta * (v - k_scale * sums[j]) : v);
      o[j] = q_scale * (sums[kVec + j] + of_head[0] * u[j]);
    }
#pragma unroll
    for (int i = 0; i < kKeys; ++i) {
#pragma unroll
      for (int j = 0; j < kVec; ++j) state[i][j] += k[i] * u[j];
    }
  }

  __device__ void load_state(i64 pool_row, float (&state)[kKeys][kVec]) const {
    const S* from = state_at(pool_row);
    Vec<S, kVec> raw[kKeys];
#pragma unroll
    for (int i = 0; i < kKeys; ++i) {
      raw[i] = {};
      if (inside) {
        raw[i] = Vec<S, kVec>::template load<kAlign>(from + i64{i} * kGroups * p.value_dim);
      }
    }
#pragma unroll
    for (int i = 0; i < kKeys; ++i) {
#pragma unroll
      for (int j = 0; j < kVec; ++j) state[i][j] = raw[i].get(j);
    }
  }

  __device__ void store_state(i64 pool_row, const float (&state)[kKeys][kVec]) const {
    if (!inside) return;
    S* to = state_at(pool_row);
#pragma unroll
    for (int i = 0; i < kKeys; ++i) {
      Vec<S, kVec>::from(state[i]).template store<kAlign>(to + i64{i} * kGroups * p.value_dim);
    }
  }

  __device__ void store_results(int t, const float (&o)[kVec]) const {
    if (group != 0 || !inside) return;
    T* to = static_cast<T*>(p.o) + (place.token0 + t) * p.o_token + place.head * p.o_head + column;
    Vec<T, kVec>::from(o).template store<kAlign>(to);
  }

  __device__ void run(Scratch& scratch) const {
    Token token = load_token(0);
    const Raw raw = load_terms();
    const i64 first = rows.first();
    if (first < 0) return;  // the whole block
    float state[kKeys][kVec];
    load_state(first, state);
    const GateTerms terms = raw.terms(p);
    for (int t = 0;;) {
      float o[kVec];
      step(token, raw, terms, state, scratch[t % 2], o);
      if (const i64 to = rows.after(t, first); to >= 0) store_state(to, state);
      store_results(t, o);
      if (++t == p.tokens) return;
      token = load_token(t);
    }
  }
};

/// Grid: one block for kLanes * 16 bytes of columns of a value head's state [K, V], blocks of a
/// head next to each other. kAlign bytes divide every address.
template <class Tr, int kAlign, int kLanes, int kThreads>
__device__ inline void decode_columns(const DecodeParams& p) {
  using Block = Columns<Tr, kAlign, kLanes, kThreads>;
  __shared__ alignas(16) typename Block::Scratch scratch;
  const Block block(p);
  allow_next_kernel();
  if (blockIdx.x < p.early_blocks) block.prefetch();
  wait_for_previous_kernel();
  block.run(scratch);
}

}  // namespace einkorn::linear_attention
