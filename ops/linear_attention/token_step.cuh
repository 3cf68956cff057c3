#pragma once

// One token of linear attention in the lanes of warps: rows of a state [V, K] in registers, a row
// in 1 to 32 lanes, pieces of kVec columns a lane. Decays and betas from each of their forms,
// norms, and the update, for a few tokens (decode.cuh) and for whole sequences (tokens.cuh).
//
// With S' the decayed state, the update needs k^T S' and the result q^T S after the update, which
// is q^T S' + (q^T k) u: both sums are taken in one pass over S', and only one round of exchanges
// between lanes stands between reading and writing.

#include "src/cuda/device/common/math.cuh"
#include "src/cuda/device/common/types.cuh"
#include "src/cuda/device/common/vec.cuh"
#include "src/cuda/device/common/warp.cuh"

namespace einkorn::linear_attention {

/// The host's enums, by the same numbers.
enum class Update { kChannelDelta = 0, kHeadDelta = 1, kDecay = 2 };
enum class Gate { kLog = 0, kSoftplus = 1, kLowerBound = 2, kFactor = 3 };

/// Everything that a kernel is specialised on but its shape: dtypes of q, k, v and o, of the gate,
/// of beta (`none` where the op has none) and of the state.
template <class T_, class G_, class B_, class S_, int kUpdate_, int kGate_, bool kLogit_,
          bool kL2norm_, int kKeyDim_, bool kPrecise_ = false>
struct StepTraits {
  using T = T_;
  using G = G_;
  using B = B_;
  using S = S_;
  static constexpr Update kUpdate = static_cast<Update>(kUpdate_);
  static constexpr Gate kGate = static_cast<Gate>(kGate_);
  static constexpr bool kLogit = kLogit_;
  static constexpr bool kL2norm = kL2norm_;
  static constexpr int kKeyDim = kKeyDim_;
  static constexpr bool kPrecise = kPrecise_;  ///< gates by the library's functions, 1 to 2 ulp
  static constexpr bool kDelta = kUpdate != Update::kDecay;
  static constexpr bool kChannelGate = kUpdate == Update::kChannelDelta;
  static constexpr bool kRawGate = kGate == Gate::kSoftplus || kGate == Gate::kLowerBound;
  static constexpr int kVec = 16 / static_cast<int>(sizeof(S));  ///< elements of a piece of state
};

/// Added to the sum of squares under the root of the l2 norm.
inline constexpr float kNormEps = 1e-6f;

/// What the raw forms of a gate take beside the gate.
struct GateTerms {
  float rate;
  float lower_bound;
};

template <class Tr>
__device__ inline float exp_of(float x) {
  return Tr::kPrecise ? expf(x) : exp_approx(x);
}
template <class Tr>
__device__ inline float sigmoid_of(float x) {
  return Tr::kPrecise ? 1.0f / (1.0f + expf(-x)) : sigmoid_approx(x);
}

template <class Tr>
__device__ inline float decay_of(float gate, float bias, const GateTerms& terms) {
  if constexpr (Tr::kGate == Gate::kFactor) {
    return gate;
  } else if constexpr (Tr::kGate == Gate::kLog) {
    return exp_of<Tr>(gate);
  } else if constexpr (Tr::kGate == Gate::kSoftplus) {
    const float x = gate + bias;
    // Above 20 softplus(x) is x in f32.
    return exp_of<Tr>(-terms.rate * (x > 20.0f ? x : log1pf(expf(x))));
  } else {
    return exp_of<Tr>(terms.lower_bound * sigmoid_of<Tr>(terms.rate * (gate + bias)));
  }
}

/// What the raw forms of a gate take of a head, as it lies in memory; nothing for the other forms.
template <class Tr, int kBiases>
struct RawTerms {
  float a_log;  // 0 where there is none: its factor is then 1
  float bias[kBiases];

  template <class P>
  __device__ GateTerms terms(const P& p) const {
    return {Tr::kRawGate ? expf(a_log) : 1.0f, p.lower_bound};
  }
};

template <class Tr, class P>
__device__ inline float beta_of(float value, const P& p) {
  return p.beta_scale * (Tr::kLogit ? sigmoid_of<Tr>(value) : value);
}

template <class T>
__device__ inline const T* head_at(const void* data, i64 token, i64 token_stride, i64 head,
                                   i64 head_stride) {
  return static_cast<const T*>(data) + token * token_stride + head * head_stride;
}

/// Sums of kCount values, each over kLanes neighbouring lanes.
template <int kLanes, int kCount>
__device__ inline void warp_sums(float (&values)[kCount]) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) values[i] += __shfl_xor_sync(kFullWarp, values[i], offset);
  }
}

/// What a token brings to the columns of a thread, as it lies in memory: nothing waits for it
/// before it is used.
template <class Tr, int kPieces, int kRows>
struct RowToken {
  static constexpr int kVec = Tr::kVec;
  static constexpr int kGates = Tr::kChannelGate ? kPieces : 1;
  Vec<typename Tr::T, kVec> q[kPieces];
  Vec<typename Tr::T, kVec> k[kPieces];
  Vec<typename Tr::G, Tr::kChannelGate ? kVec : 1> gate[kGates];
  typename Tr::B beta;
  typename Tr::T v[kRows];
};

/// What a lane does for one token.
template <class Tr, int kLanes, int kPieces, int kRows>
struct RowStep {
  using T = typename Tr::T;
  static constexpr int kVec = Tr::kVec;
  static constexpr int kOwn = kPieces * kVec;  ///< columns of a thread
  static constexpr int kGroups = 32 / kLanes;  ///< rows that a warp has at once
  static constexpr int kDecays = Tr::kChannelGate ? kOwn : 1;
  using Token = RowToken<Tr, kPieces, kRows>;
  using Raw = RawTerms<Tr, kDecays>;

  /// Decays of the thread's columns; one in the first place where the head has one.
  __device__ static void decays(const Token& token, const Raw& raw, const GateTerms& terms,
                                float (&out)[kDecays]) {
    if constexpr (Tr::kChannelGate) {
#pragma unroll
      for (int j = 0; j < kOwn; ++j) {
        out[j] = decay_of<Tr>(token.gate[j / kVec].get(j % kVec), raw.bias[j], terms);
      }
    } else {
      out[0] = decay_of<Tr>(token.gate[0].get(0), raw.bias[0], terms);
    }
  }

  /// One token: the state is updated, and the results of the thread's rows come back. Of `p`: scale
  /// and beta_scale.
  template <class P>
  __device__ static void step(const P& p, const Token& token, const Raw& raw,
                              const GateTerms& terms, float (&state)[kRows][kOwn],
                              float (&o)[kRows]) {
    float q[kOwn], k[kOwn], decay[kDecays];
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
#pragma unroll
      for (int j = 0; j < kVec; ++j) {
        q[i * kVec + j] = token.q[i].get(j);
        k[i * kVec + j] = token.k[i].get(j);
      }
    }
    decays(token, raw, terms, decay);
    float own[3] = {};  // q k, q q, k k
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
      own[0] += q[j] * k[j];
      own[1] += q[j] * q[j];
      own[2] += k[j] * k[j];
    }
    float q_scale = p.scale;
    if constexpr (Tr::kL2norm) {
      warp_sums<kLanes>(own);
      const float k_scale = rsqrtf(own[2] + kNormEps);
      q_scale *= rsqrtf(own[1] + kNormEps);
      own[0] *= k_scale;
#pragma unroll
      for (int j = 0; j < kOwn; ++j) k[j] *= k_scale;
    } else {
      own[0] = warp_sum<kLanes>(own[0]);
    }
    const float qk = own[0] * q_scale;
#pragma unroll
    for (int j = 0; j < kOwn; ++j) q[j] *= q_scale;

    float sums[2 * kRows] = {};  // k^T S' and q^T S' of each row; with one decay, of S
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int j = 0; j < kOwn; ++j) {
        if constexpr (Tr::kChannelGate) state[r][j] *= decay[j];
        if constexpr (Tr::kDelta) sums[2 * r] += k[j] * state[r][j];
        sums[2 * r + 1] += q[j] * state[r][j];
      }
    }
    warp_sums<kLanes>(sums);
    float beta = 1;
    if constexpr (Tr::kDelta) beta = beta_of<Tr>(to_float(token.beta), p);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float v = to_float(token.v[r]);
      const float d = Tr::kChannelGate ? 1.0f : decay[0];
      const float u = Tr::kDelta ? beta * (v - d * sums[2 * r]) : v;
      o[r] = d * sums[2 * r + 1] + qk * u;
#pragma unroll
      for (int j = 0; j < kOwn; ++j) {
        state[r][j] = Tr::kChannelGate ? state[r][j] + k[j] * u : d * state[r][j] + k[j] * u;
      }
    }
  }

  /// Results of the thread's rows, the first of which goes to `to`; inside(r) says which there are.
  template <class Inside>
  __device__ static void store(T* to, const float (&o)[kRows], int lane, Inside&& inside) {
    // All lanes of a row have its result: each writes another row's, in one instruction.
#pragma unroll
    for (int first = 0; first < kRows; first += kLanes) {
      float mine = o[first];
      bool writes = lane == 0 && inside(first);
#pragma unroll
      for (int r = first + 1; r < kRows && r < first + kLanes; ++r) {
        if (lane == r - first) {
          mine = o[r];
          writes = inside(r);
        }
      }
      if (writes) to[(first + lane) * kGroups] = from_float<T>(mine);
    }
  }
};

}  // namespace einkorn::linear_attention
