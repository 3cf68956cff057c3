#pragma once

// Whole sequences, token by token, as the definition has it: for every dtype, form and size. Serves
// what the kernels over chunks do not, which are many times as fast.
//
// Idea: a row of the state [V, K] is a row of v and o, and depends on no other. So a warp takes
// some rows, keeps them in registers, f32, from the sequence's first token to its last, and needs
// no barrier. A row lies in as few lanes as its columns fit, 16 each: what a token costs is then
// mostly the multiplications, not the sums between lanes. The next token is asked for before this
// one is worked on.
//
// Columns past K hold zeros, and what is read for them is taken for zeros: they add nothing to any
// sum, and their decay, which is finite, meets a state of zero.

#include "ops/linear_attention/sequence_table.cuh"
#include "ops/linear_attention/token_step.cuh"
#include "ops/linear_attention/tokens_params.h"
#include "src/cuda/device/common/pdl.cuh"
#include "src/cuda/device/common/types.cuh"
#include "src/cuda/device/common/vec.cuh"

namespace einkorn::linear_attention {

/// A thread's part of one value head of one sequence. Initial, Final and Checkpoint are the types
/// of the states that come, stay and are stored on the way, or none.
template <class Tr, int kAlign, int kLanes, int kRows, int kWarps, class Initial, class Final,
          class Checkpoint>
struct TokenRows {
  using T = typename Tr::T;
  using G = typename Tr::G;
  using B = typename Tr::B;
  static constexpr int kVec = Tr::kVec;
  static constexpr int kKeys = Tr::kKeyDim;
  static constexpr int kPieces = (kKeys + kVec * kLanes - 1) / (kVec * kLanes);
  static constexpr bool kWhole = kPieces * kVec * kLanes == kKeys;  ///< lanes cover a row exactly
  using Step = RowStep<Tr, kLanes, kPieces, kRows>;
  static constexpr int kOwn = Step::kOwn;
  static constexpr int kGroups = Step::kGroups;
  static constexpr int kWarpRows = kGroups * kRows;
  using Token = typename Step::Token;
  using Raw = typename Step::Raw;

  const TokensParams& p;
  int head;   // value head
  int lane;   // in the row
  int row;    // the thread's first
  bool idle;  // the warp has no row
  int sequence;
  int tokens;
  i64 token0;
  i64 checkpoint;  // row of the sequence's first

  __device__ explicit TokenRows(const TokensParams& params) : p(params) {
    const int part = static_cast<int>(blockIdx.x % p.parts);
    const u32 index = blockIdx.x / p.parts;
    head = static_cast<int>(index % static_cast<u32>(p.value_heads));
    sequence = static_cast<int>(index / static_cast<u32>(p.value_heads));
    const int in_warp = static_cast<int>(threadIdx.x) % 32;
    const int first = (part * kWarps + static_cast<int>(threadIdx.x) / 32) * kWarpRows;
    lane = in_warp % kLanes;
    row = first + in_warp / kLanes;
    idle = first >= p.value_dim;
  }

  /// Reads where the sequence is.
  __device__ void find() {
    if (p.starts != nullptr) {
      const SequenceStart start = p.starts[sequence];
      token0 = start.token;
      tokens = p.starts[sequence + 1].token - start.token;
      checkpoint = start.checkpoint;
    } else {
      tokens = p.tokens;
      token0 = i64{sequence} * tokens;
      checkpoint = p.checkpoint_every > 0 ? i64{sequence} * (tokens / p.checkpoint_every) : 0;
    }
  }

  __device__ int column(int piece) const { return (piece * kLanes + lane) * kVec; }
  __device__ bool inside(int r) const { return row + r * kGroups < p.value_dim; }

  /// kVec columns of a row of K; zeros past its end.
  template <class E>
  __device__ static Vec<E, kVec> load_columns(const E* from, int column) {
    if constexpr (kWhole) {
      return Vec<E, kVec>::template load<kAlign>(from + column);
    } else {
      Vec<E, kVec> out = {};
      if constexpr (kKeys % kVec == 0) {
        if (column < kKeys) out = Vec<E, kVec>::template load<kAlign>(from + column);
      } else {
#pragma unroll
        for (int j = 0; j < kVec; ++j) {
          if (column + j < kKeys) out.item[j] = from[column + j];
        }
      }
      return out;
    }
  }

  __device__ Token load_token(int t) const {
    Token out;
    const i64 token = token0 + t;
    const int key_head = head / p.group;
    const T* q = head_at<T>(p.q, token, p.q_token, key_head, p.q_head);
    const T* k = head_at<T>(p.k, token, p.k_token, key_head, p.k_head);
    const G* g = head_at<G>(p.g, token, p.g_token, head, p.g_head);
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      out.q[i] = load_columns(q, column(i));
      out.k[i] = load_columns(k, column(i));
      if constexpr (Tr::kChannelGate) out.gate[i] = load_columns(g, column(i));
    }
    if constexpr (!Tr::kChannelGate) out.gate[0].item[0] = *g;
    if constexpr (Tr::kDelta) {
      out.beta = static_cast<const B*>(p.beta)[token * p.beta_token + head];
    }
    const T* v = head_at<T>(p.v, token, p.v_token, head, p.v_head) + row;
#pragma unroll
    for (int r = 0; r < kRows; ++r) out.v[r] = inside(r) ? v[r * kGroups] : T{};
    return out;
  }

  __device__ Raw load_terms() const {
    Raw out = {};
    if constexpr (Tr::kRawGate) {
      if (p.a_log != nullptr) out.a_log = p.a_log[head];
      if (p.dt_bias == nullptr) return out;
      if constexpr (Tr::kChannelGate) {
#pragma unroll
        for (int j = 0; j < kOwn; ++j) {
          const int at = column(j / kVec) + j % kVec;
          if (at < kKeys) out.bias[j] = p.dt_bias[i64{head} * kKeys + at];
        }
      } else {
        out.bias[0] = p.dt_bias[head];
      }
    }
    return out;
  }

  /// From state number n of a tensor's first element to the thread's first row.
  __device__ i64 state_offset(i64 n) const {
    return (n * p.value_heads + head) * p.value_dim * kKeys + i64{row} * p.state_value;
  }
  /// From there to the thread's element j of its row r.
  __device__ int element(int r, int j) const {
    return r * kGroups * p.state_value + (column(j / kVec) + j % kVec) * p.state_key;
  }
  __device__ bool has(int r, int j) const {
    return inside(r) && (kWhole || column(j / kVec) + j % kVec < kKeys);
  }

  __device__ void load_state(float (&state)[kRows][kOwn]) const {
    const Initial* from = nullptr;
    if constexpr (!is_none<Initial>) {
      from = static_cast<const Initial*>(p.initial) + state_offset(sequence);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int j = 0; j < kOwn; ++j) {
        state[r][j] = 0;
        if constexpr (!is_none<Initial>) {
          if (has(r, j)) state[r][j] = to_float(from[element(r, j)]);
        }
      }
    }
  }

  template <class S>
  __device__ void store_state(void* states, i64 n, const float (&state)[kRows][kOwn]) const {
    S* to = static_cast<S*>(states) + state_offset(n);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int j = 0; j < kOwn; ++j) {
        if (has(r, j)) to[element(r, j)] = from_float<S>(state[r][j]);
      }
    }
  }

  /// `to`: where the result of the thread's first row goes.
  __device__ void store_results(T* to, const float (&o)[kRows]) const {
    Step::store(to, o, lane, [this](int r) { return inside(r); });
  }

  __device__ void run_tokens(float (&state)[kRows][kOwn]) const {
    const Raw raw = load_terms();
    const GateTerms terms = raw.terms(p);
    Token next = load_token(0);
    T* to = static_cast<T*>(p.o) + token0 * p.o_token + head * p.o_head + row;
    i64 stored = checkpoint;
    int left = p.checkpoint_every;
    for (int t = 0; t < tokens; ++t) {
      const Token token = next;
      // The last one is read twice: no branch among the loads.
      next = load_token(t + 1 < tokens ? t + 1 : t);
      float o[kRows];
      Step::step(p, token, raw, terms, state, o);
      store_results(to, o);
      to += p.o_token;
      if constexpr (!is_none<Checkpoint>) {
        if (--left == 0) {
          store_state<Checkpoint>(p.checkpoints, stored++, state);
          left = p.checkpoint_every;
        }
      }
    }
  }

  __device__ void run() {
    if (idle) return;
    find();
    float state[kRows][kOwn];
    load_state(state);
    if (tokens > 0) run_tokens(state);
    if constexpr (!is_none<Final>) store_state<Final>(p.final, sequence, state);
  }
};

/// Grid: one block for kWarps * kRows * (32 / kLanes) rows of a value head of a sequence, blocks of
/// a head next to each other, heads of a sequence next to each other. kLanes lanes have a row of a
/// state; kAlign bytes divide the address of every row of q, k and a gate by channels.
template <class Tr, int kAlign, int kLanes, int kRows, int kWarps, class Initial, class Final,
          class Checkpoint>
__device__ inline void prefill_tokens(const TokensParams& p) {
  wait_for_previous_kernel();
  TokenRows<Tr, kAlign, kLanes, kRows, kWarps, Initial, Final, Checkpoint>(p).run();
}

}  // namespace einkorn::linear_attention
