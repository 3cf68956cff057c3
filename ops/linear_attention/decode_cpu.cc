// The decode ops on the CPU: a value head of a sequence at a time, vectors along the state's rows.
//
// Idea: what a token brings to a head is a few kilobytes that every row of the state needs, so it
// is widened to f32 once, with its decays, and stays in the first cache. The state passes through
// it once. A row of a state [V, K] depends on no other and goes through all tokens before the next
// is read; of a state [K, V] some columns do. Sums and state are f32 from memory to memory.

// Highway includes this file once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/linear_attention/decode_cpu.cc"
#include "src/cpu/hwy_targets.h"
// After the targets.
#include <hwy/foreach_target.h>
// After the list of targets; -inl.h before anything that opens namespaces.
#include "src/cpu/codec-inl.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "ops/linear_attention/decode_cpu.h"
#include "ops/linear_attention/decode_rows.h"
#include "src/core/float.h"
#include "src/cpu/threads.h"

#ifndef EINKORN_LINEAR_ATTENTION_DECODE_CPU_
#define EINKORN_LINEAR_ATTENTION_DECODE_CPU_
namespace einkorn::linear_attention {
namespace {

/// Columns of a state [K, V] that go through the cache together, and floats between the rows of the
/// scratch memory of either kind.
constexpr std::size_t kColumns = 64;

/// A head's tokens in f32, one behind the other in each array.
struct HeadTokens {
  float* q = nullptr;      ///< [tokens, K], normalised, times scale
  float* k = nullptr;      ///< [tokens, K], normalised
  float* decay = nullptr;  ///< [tokens, K]
  float* v = nullptr;      ///< [tokens, V]
  float* o = nullptr;      ///< [tokens, V]
  float* beta = nullptr;   ///< [tokens]
  float* qk = nullptr;     ///< [tokens]: q^T k
  float* state = nullptr;  ///< a row of K, or K rows of kColumns
};

/// One call, for all threads.
struct DecodeTask {
  const DecodeCall* call = nullptr;
  std::int64_t tokens = 0;
  std::int64_t heads = 0;  ///< value heads
  std::size_t keys = 0;
  std::size_t values = 0;
  float scale = 1;
  const PoolRows* rows = nullptr;

  std::size_t scratch_floats() const {
    const auto count = static_cast<std::size_t>(tokens);
    return count * (3 * keys + 2 * values + 2) + keys * kColumns;
  }
};

/// The first element of a head of a token of [seqs, tokens, heads, ...], or of the token where the
/// tensor has no more than heads.
const char* element_at(const TensorView& tensor, std::int64_t seq, std::int64_t token,
                       std::int64_t head) {
  const std::int64_t offset =
      seq * tensor.stride(0) + token * tensor.stride(1) + head * tensor.stride(2);
  return tensor.data_as<const char>() + offset * (bits(tensor.dtype()) / 8);
}

/// Raw gates to logs of decays in f32; logs and factors as they are.
struct FloatGate {
  Gate form = Gate::kLog;
  float rate = 1;
  float lower_bound = -5;

  float decay(float gate, float bias) const {
    switch (form) {
      case Gate::kLog:
        return std::exp(gate);
      case Gate::kSoftplus: {
        const float x = gate + bias;
        return std::exp(-rate * (x > 20 ? x : std::log1p(std::exp(x))));
      }
      case Gate::kLowerBound:
        return std::exp(lower_bound / (1 + std::exp(-rate * (gate + bias))));
      case Gate::kFactor:
        return gate;
    }
    return gate;
  }
};

FloatGate gate_of(const DecodeCall& call, std::int64_t head) {
  FloatGate gate{call.gate, 1, static_cast<float>(call.lower_bound)};
  if (call.a_log.defined()) gate.rate = std::exp(call.a_log.data_as<const float>()[head]);
  return gate;
}

}  // namespace
}  // namespace einkorn::linear_attention
#endif  // EINKORN_LINEAR_ATTENTION_DECODE_CPU_

HWY_BEFORE_NAMESPACE();
namespace einkorn::linear_attention {
namespace {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
// NOLINTNEXTLINE(google-build-using-namespace): the codecs of this instruction set
using namespace einkorn::cpu::HWY_NAMESPACE;

HWY_ATTR F32Vec load_f32(const float* from) { return hn::LoadU(F32Tag(), from); }
HWY_ATTR void store_f32(F32Vec value, float* to) { hn::StoreU(value, F32Tag(), to); }
HWY_ATTR F32Vec set_f32(float value) { return hn::Set(F32Tag(), value); }

HWY_ATTR void widen(DType dtype, const void* from, std::size_t count, float* to) {
  visit_codec(dtype, [&](auto codec) HWY_ATTR {
    using Codec = decltype(codec);
    const auto* raw = static_cast<const typename Codec::Raw*>(from);
    const std::size_t lanes = hn::Lanes(F32Tag());
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) store_f32(Codec::load(raw + i), to + i);
    if (i < count) store_tail<F32Codec>(load_tail<Codec>(raw + i, count - i), to + i, count - i);
  });
}

HWY_ATTR void narrow(DType dtype, const float* from, std::size_t count, void* to) {
  visit_codec(dtype, [&](auto codec) HWY_ATTR {
    using Codec = decltype(codec);
    auto* raw = static_cast<typename Codec::Raw*>(to);
    const std::size_t lanes = hn::Lanes(F32Tag());
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) Codec::store(load_f32(from + i), raw + i);
    if (i < count) store_tail<Codec>(load_tail<F32Codec>(from + i, count - i), raw + i, count - i);
  });
}

HWY_ATTR float dot(const float* a, const float* b, std::size_t count) {
  const std::size_t lanes = hn::Lanes(F32Tag());
  F32Vec sum = hn::Zero(F32Tag());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) sum = hn::MulAdd(load_f32(a + i), load_f32(b + i), sum);
  if (i < count) {
    sum = hn::MulAdd(load_tail<F32Codec>(a + i, count - i), load_tail<F32Codec>(b + i, count - i),
                     sum);
  }
  return hn::GetLane(hn::SumOfLanes(F32Tag(), sum));
}

HWY_ATTR void scale_all(float* values, std::size_t count, float factor) {
  for (std::size_t i = 0; i < count; ++i) values[i] *= factor;
}

/// Decays of a token's channels; all of a kind where the head has one.
HWY_ATTR void decays(const DecodeTask& task, std::int64_t seq, std::int64_t token,
                     std::int64_t head, float* to) {
  const DecodeCall& call = *task.call;
  const FloatGate gate = gate_of(call, head);
  if (call.update == Update::kChannelDelta) {
    widen(call.g.dtype(), element_at(call.g, seq, token, head), task.keys, to);
    const float* bias = nullptr;
    if (call.dt_bias.defined()) {
      bias = call.dt_bias.data_as<const float>() + head * static_cast<std::int64_t>(task.keys);
    }
    for (std::size_t i = 0; i < task.keys; ++i) to[i] = gate.decay(to[i], bias ? bias[i] : 0);
    return;
  }
  float value = 0;
  if (call.update == Update::kDecay) {
    value = call.decay.data_as<const float>()[head];
  } else {
    widen(call.g.dtype(), element_at(call.g, seq, token, head), 1, &value);
  }
  const float bias = call.dt_bias.defined() ? call.dt_bias.data_as<const float>()[head] : 0;
  const float decay = gate.decay(value, bias);
  for (std::size_t i = 0; i < task.keys; ++i) to[i] = decay;
}

HWY_ATTR void prepare_token(const DecodeTask& task, std::int64_t seq, std::int64_t token,
                            std::int64_t head, const HeadTokens& of) {
  const DecodeCall& call = *task.call;
  const std::int64_t key_head = head / (task.heads / call.q.size(2));
  const auto t = static_cast<std::size_t>(token);
  float* q = of.q + t * task.keys;
  float* k = of.k + t * task.keys;
  widen(call.q.dtype(), element_at(call.q, seq, token, key_head), task.keys, q);
  widen(call.k.dtype(), element_at(call.k, seq, token, key_head), task.keys, k);
  widen(call.v.dtype(), element_at(call.v, seq, token, head), task.values, of.v + t * task.values);
  decays(task, seq, token, head, of.decay + t * task.keys);
  float q_scale = task.scale;
  if (call.l2norm) {
    constexpr float kEps = 1e-6F;
    q_scale /= std::sqrt(dot(q, q, task.keys) + kEps);
    scale_all(k, task.keys, 1 / std::sqrt(dot(k, k, task.keys) + kEps));
  }
  scale_all(q, task.keys, q_scale);
  of.qk[t] = dot(q, k, task.keys);
  of.beta[t] = 1;
  if (call.update == Update::kDecay) return;
  float beta = 0;
  widen(call.beta.dtype(), element_at(call.beta, seq, token, head), 1, &beta);
  if (call.beta_form == Beta::kLogit) beta = 1 / (1 + std::exp(-beta));
  of.beta[t] = call.negative_eigenvalues ? 2 * beta : beta;
}

/// What the update adds to the state for each of k: beta (v - k^T S), or v.
HWY_ATTR F32Vec update_of(bool delta, F32Vec beta, F32Vec v, F32Vec k_state) {
  return delta ? hn::Mul(beta, hn::Sub(v, k_state)) : v;
}

/// A row of a state [V, K] through one token: `s` is it in f32, [K].
HWY_ATTR void row_step(const DecodeTask& task, const HeadTokens& of, std::size_t t,
                       std::size_t value, float* s) {
  const float* q = of.q + t * task.keys;
  const float* k = of.k + t * task.keys;
  const float* decay = of.decay + t * task.keys;
  const std::size_t lanes = hn::Lanes(F32Tag());
  F32Vec k_sum = hn::Zero(F32Tag());
  F32Vec q_sum = hn::Zero(F32Tag());
  std::size_t i = 0;
  for (; i + lanes <= task.keys; i += lanes) {
    const F32Vec decayed = hn::Mul(load_f32(s + i), load_f32(decay + i));
    store_f32(decayed, s + i);
    k_sum = hn::MulAdd(load_f32(k + i), decayed, k_sum);
    q_sum = hn::MulAdd(load_f32(q + i), decayed, q_sum);
  }
  float k_state = hn::GetLane(hn::SumOfLanes(F32Tag(), k_sum));
  float q_state = hn::GetLane(hn::SumOfLanes(F32Tag(), q_sum));
  for (std::size_t j = i; j < task.keys; ++j) {
    s[j] *= decay[j];
    k_state += k[j] * s[j];
    q_state += q[j] * s[j];
  }
  const float v = of.v[t * task.values + value];
  const bool delta = task.call->update != Update::kDecay;
  const float u = delta ? of.beta[t] * (v - k_state) : v;
  of.o[t * task.values + value] = q_state + of.qk[t] * u;
  const F32Vec added = set_f32(u);
  for (i = 0; i + lanes <= task.keys; i += lanes) {
    store_f32(hn::MulAdd(load_f32(k + i), added, load_f32(s + i)), s + i);
  }
  for (; i < task.keys; ++i) s[i] += k[i] * u;
}

/// Columns of a state [K, V] through one token: `s` is they in f32, K rows of kColumns, those
/// behind `count` of no meaning.
HWY_ATTR void columns_step(const DecodeTask& task, const HeadTokens& of, std::size_t t,
                           std::size_t value, std::size_t count, float* s) {
  const float* q = of.q + t * task.keys;
  const float* k = of.k + t * task.keys;
  const float* decay = of.decay + t * task.keys;
  const bool delta = task.call->update != Update::kDecay;
  const std::size_t lanes = hn::Lanes(F32Tag());
  const F32Vec beta = set_f32(of.beta[t]);
  const F32Vec qk = set_f32(of.qk[t]);
  for (std::size_t j = 0; j < count; j += lanes) {
    F32Vec k_state = hn::Zero(F32Tag());
    F32Vec q_state = hn::Zero(F32Tag());
    for (std::size_t i = 0; i < task.keys; ++i) {
      const F32Vec decayed = hn::Mul(load_f32(s + i * kColumns + j), set_f32(decay[i]));
      store_f32(decayed, s + i * kColumns + j);
      k_state = hn::MulAdd(set_f32(k[i]), decayed, k_state);
      q_state = hn::MulAdd(set_f32(q[i]), decayed, q_state);
    }
    const std::size_t at = t * task.values + value + j;
    const bool whole = j + lanes <= count;
    const F32Vec v = whole ? load_f32(of.v + at) : load_tail<F32Codec>(of.v + at, count - j);
    const F32Vec u = update_of(delta, beta, v, k_state);
    const F32Vec o = hn::MulAdd(qk, u, q_state);
    whole ? store_f32(o, of.o + at) : store_tail<F32Codec>(o, of.o + at, count - j);
    for (std::size_t i = 0; i < task.keys; ++i) {
      float* to = s + i * kColumns + j;
      store_f32(hn::MulAdd(set_f32(k[i]), u, load_f32(to)), to);
    }
  }
}

/// Where a head's state begins in a row of the pool.
char* state_at(const DecodeTask& task, std::int64_t row, std::int64_t head) {
  const TensorView& state = task.call->state;
  const std::int64_t offset = row * state.stride(0) + head * state.stride(1);
  return state.data_as<char>() + offset * (bits(state.dtype()) / 8);
}

HWY_ATTR void run_rows(const DecodeTask& task, std::int64_t seq, std::int64_t head,
                       std::int64_t first, const HeadTokens& of) {
  const DType dtype = task.call->state.dtype();
  const std::size_t row_bytes = task.keys * static_cast<std::size_t>(bits(dtype) / 8);
  for (std::size_t value = 0; value < task.values; ++value) {
    widen(dtype, state_at(task, first, head) + value * row_bytes, task.keys, of.state);
    for (std::int64_t t = 0; t < task.tokens; ++t) {
      row_step(task, of, static_cast<std::size_t>(t), value, of.state);
      const std::int64_t to = task.rows->after(seq, t);
      if (to == kNoRow) continue;
      narrow(dtype, of.state, task.keys, state_at(task, to, head) + value * row_bytes);
    }
  }
}

HWY_ATTR void run_columns(const DecodeTask& task, std::int64_t seq, std::int64_t head,
                          std::int64_t first, const HeadTokens& of) {
  const DType dtype = task.call->state.dtype();
  const auto element = static_cast<std::size_t>(bits(dtype) / 8);
  for (std::size_t value = 0; value < task.values; value += kColumns) {
    const std::size_t count = HWY_MIN(kColumns, task.values - value);
    const auto at = [&](std::int64_t row, std::size_t key) HWY_ATTR {
      return state_at(task, row, head) + (key * task.values + value) * element;
    };
    for (std::size_t key = 0; key < task.keys; ++key) {
      widen(dtype, at(first, key), count, of.state + key * kColumns);
    }
    for (std::int64_t t = 0; t < task.tokens; ++t) {
      columns_step(task, of, static_cast<std::size_t>(t), value, count, of.state);
      const std::int64_t to = task.rows->after(seq, t);
      if (to == kNoRow) continue;
      for (std::size_t key = 0; key < task.keys; ++key) {
        narrow(dtype, of.state + key * kColumns, count, at(to, key));
      }
    }
  }
}

/// Heads [begin, end) of the list of all sequences' value heads.
HWY_ATTR void run_heads(const DecodeTask& task, std::int64_t begin, std::int64_t end) {
  const auto tokens = static_cast<std::size_t>(task.tokens);
  HeadTokens of;
  float* next =
      static_cast<float*>(einkorn::cpu::thread_scratch(task.scratch_floats() * sizeof(float)));
  const auto take = [&next](std::size_t count) HWY_ATTR {
    float* const taken = next;
    next += count;
    return taken;
  };
  of.state = take(task.keys * kColumns);
  of.q = take(tokens * task.keys);
  of.k = take(tokens * task.keys);
  of.decay = take(tokens * task.keys);
  of.v = take(tokens * task.values);
  of.o = take(tokens * task.values);
  of.beta = take(tokens);
  of.qk = take(tokens);
  for (std::size_t i = 0; i < task.keys * kColumns; ++i) of.state[i] = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t seq = i / task.heads;
    const std::int64_t head = i % task.heads;
    const std::int64_t first = task.rows->first(seq);
    if (first == kNoRow) continue;
    for (std::int64_t t = 0; t < task.tokens; ++t) prepare_token(task, seq, t, head, of);
    const bool kv = task.call->state_layout == StateLayout::kKv;
    kv ? run_columns(task, seq, head, first, of) : run_rows(task, seq, head, first, of);
    for (std::int64_t t = 0; t < task.tokens; ++t) {
      const TensorView& o = task.call->o;
      narrow(o.dtype(), of.o + static_cast<std::size_t>(t) * task.values, task.values,
             const_cast<char*>(element_at(o, seq, t, head)));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace einkorn::linear_attention
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace einkorn::linear_attention {
namespace {

HWY_EXPORT(run_heads);

}  // namespace

void decode_heads(const DecodeCall& call) {
  const PoolRows rows(call.state, call.state_indices, call.accepted, call.q.size(1));
  DecodeTask task;
  task.call = &call;
  task.tokens = call.q.size(1);
  task.heads = call.v.size(2);
  task.keys = static_cast<std::size_t>(call.q.size(3));
  task.values = static_cast<std::size_t>(call.v.size(3));
  task.scale = static_cast<float>(call.used_scale());
  task.rows = &rows;
  constexpr std::int64_t kGrain = 1 << 15;  // elements of state: some 10 us, a thread's waking
  const auto of_head = static_cast<std::int64_t>(task.keys * task.values) * task.tokens;
  cpu::parallel_for(0, call.q.size(0) * task.heads, 1 + kGrain / of_head,
                    [&](std::int64_t begin, std::int64_t end) {
                      HWY_DYNAMIC_DISPATCH(run_heads)(task, begin, end);
                    });
}

}  // namespace einkorn::linear_attention
#endif  // HWY_ONCE
