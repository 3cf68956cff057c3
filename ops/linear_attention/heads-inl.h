// What a stretch of tokens brings to a value head, prepared for heads.cc for each instruction set:
// rows widened to f32, normalised and scaled, gates as decays. Included by files that
// foreach_target.h includes; the guard is Highway's, once for each instruction set.
#if defined(EINKORN_OPS_LINEAR_ATTENTION_HEADS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EINKORN_OPS_LINEAR_ATTENTION_HEADS_INL_H_
#undef EINKORN_OPS_LINEAR_ATTENTION_HEADS_INL_H_
#else
#define EINKORN_OPS_LINEAR_ATTENTION_HEADS_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include "src/cpu/codec-inl.h"
#include "src/cpu/sums-inl.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "ops/linear_attention/gates.h"
#include "ops/linear_attention/heads_task.h"
#include "src/cpu/threads.h"

HWY_BEFORE_NAMESPACE();
namespace einkorn::linear_attention::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
// NOLINTNEXTLINE(google-build-using-namespace): the codecs of this instruction set
using namespace einkorn::cpu::HWY_NAMESPACE;

inline HWY_ATTR std::size_t lanes() { return hn::Lanes(F32Tag()); }

inline HWY_ATTR std::size_t padded(std::int64_t count) {
  const std::size_t step = lanes();
  return (static_cast<std::size_t>(count) + step - 1) / step * step;
}

/// The scratch memory of a task.
struct Scratch {
  std::size_t keys = 0;     ///< K, padded to whole vectors; the padding holds zeros
  std::size_t columns = 0;  ///< padded likewise
  float* state = nullptr;   ///< blocks of columns one behind the other, each [K][width]
  float* q = nullptr;       ///< [kStretch][keys], as are the next three
  float* k = nullptr;
  float* decay = nullptr;
  float* decayed_k = nullptr;
  float* v = nullptr;  ///< [kStretch][columns]
  float* o = nullptr;  ///< likewise
  float beta[kStretch] = {};
};

inline HWY_ATTR Scratch make_scratch(std::int64_t key_dim, std::int64_t count) {
  Scratch out;
  out.keys = padded(key_dim);
  out.columns = padded(count);
  const std::size_t of_state = static_cast<std::size_t>(key_dim) * out.columns;
  const std::size_t of_keys = kStretch * out.keys;
  const std::size_t of_columns = kStretch * out.columns;
  float* next = static_cast<float*>(
      einkorn::cpu::thread_scratch((of_state + 4 * of_keys + 2 * of_columns) * sizeof(float)));
  const auto take = [&next](std::size_t floats) {
    float* const taken = next;
    next += floats;
    return taken;
  };
  out.state = take(of_state);
  out.q = take(of_keys);
  out.k = take(of_keys);
  out.decay = take(of_keys);
  out.decayed_k = take(of_keys);
  out.v = take(of_columns);
  out.o = take(of_columns);
  return out;
}

/// Widens a row; zeros behind it up to a whole vector.
inline HWY_ATTR void widen(const char* row, DType dtype, std::int64_t count, float* out) {
  visit_codec(dtype, [&](auto codec) HWY_ATTR {
    using Codec = decltype(codec);
    const auto* data = reinterpret_cast<const typename Codec::Raw*>(row);
    const std::size_t size = static_cast<std::size_t>(count);
    std::size_t i = 0;
    for (; i + lanes() <= size; i += lanes()) {
      hn::StoreU(Codec::load(data + i), F32Tag(), out + i);
    }
    if (i < size) hn::StoreU(load_tail<Codec>(data + i, size - i), F32Tag(), out + i);
  });
}

inline HWY_ATTR void narrow(const float* row, DType dtype, std::int64_t count, char* out) {
  visit_codec(dtype, [&](auto codec) HWY_ATTR {
    using Codec = decltype(codec);
    auto* data = reinterpret_cast<typename Codec::Raw*>(out);
    const std::size_t size = static_cast<std::size_t>(count);
    std::size_t i = 0;
    for (; i + lanes() <= size; i += lanes()) {
      Codec::store(hn::LoadU(F32Tag(), row + i), data + i);
    }
    if (i < size) store_tail<Codec>(hn::LoadU(F32Tag(), row + i), data + i, size - i);
  });
}

/// The first element of a row.
inline HWY_ATTR double number(const char* row, DType dtype) {
  double out = 0;
  visit_codec(dtype, [&](auto codec) HWY_ATTR {
    using Codec = decltype(codec);
    out = hn::GetLane(load_tail<Codec>(reinterpret_cast<const typename Codec::Raw*>(row), 1));
  });
  return out;
}

/// Multiplies a padded row by `factor`, and by 1 / its length where asked for.
inline HWY_ATTR void scale_row(float* row, std::size_t keys, bool l2norm, double factor) {
  if (l2norm) {
    auto sum = hn::Zero(F32Tag());
    for (std::size_t i = 0; i < keys; i += lanes()) {
      const F32Vec x = hn::LoadU(F32Tag(), row + i);
      sum = hn::MulAdd(x, x, sum);
    }
    factor /= std::sqrt(total_of(sum) + kNormEps);
  }
  const F32Vec factors = hn::Set(F32Tag(), static_cast<float>(factor));
  for (std::size_t i = 0; i < keys; i += lanes()) {
    hn::StoreU(hn::Mul(hn::LoadU(F32Tag(), row + i), factors), F32Tag(), row + i);
  }
}

/// e^x for x up to 88, 0 for what an f32 cannot hold, minus infinity among it.
inline HWY_ATTR F32Vec exp_of(F32Vec x) {
  const F32Tag tag;
  const F32Vec lowest = hn::Set(tag, -103.0F);
  return hn::IfThenElseZero(hn::Not(hn::Lt(x, lowest)), hn::Exp(tag, hn::Max(x, lowest)));
}

inline HWY_ATTR F32Vec sigmoid_of(F32Vec x) {
  const F32Tag tag;
  const F32Vec one = hn::Set(tag, 1.0F);
  // By e^-|x|, which cannot overflow: 1 / (1 + e) for positive x, e / (1 + e) for negative.
  const F32Vec e = exp_of(hn::Neg(hn::Abs(x)));
  const F32Vec numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(tag)), e, one);
  return hn::Div(numerator, hn::Add(one, e));
}

/// log(1 + e^x), within 1e-9 of x beyond the contract's threshold.
inline HWY_ATTR F32Vec softplus_of(F32Vec x) {
  const F32Tag tag;
  const F32Vec soft = hn::Log1p(tag, exp_of(hn::Neg(hn::Abs(x))));
  return hn::Add(hn::Max(x, hn::Zero(tag)), soft);
}

/// Decays of the channels of a row of g in f32, in place.
inline HWY_ATTR void decay_row(const HeadsTask& task, std::int64_t head, std::size_t keys,
                               const float* bias, float* row) {
  const F32Tag tag;
  if (task.gate == Gate::kFactor) return;
  const F32Vec rate =
      hn::Set(tag, task.a_log != nullptr ? static_cast<float>(std::exp(task.a_log[head])) : 1.0F);
  const F32Vec bound = hn::Set(tag, static_cast<float>(task.lower_bound));
  for (std::size_t i = 0; i < keys; i += lanes()) {
    F32Vec x = hn::LoadU(tag, row + i);
    if (bias != nullptr) x = hn::Add(x, hn::LoadU(tag, bias + i));
    if (task.gate == Gate::kSoftplus) x = hn::Neg(hn::Mul(rate, softplus_of(x)));
    if (task.gate == Gate::kLowerBound) x = hn::Mul(bound, sigmoid_of(hn::Mul(rate, x)));
    hn::StoreU(exp_of(x), tag, row + i);
  }
}

/// The decay of all channels of a head at a token.
inline HWY_ATTR double head_decay(const HeadsTask& task, std::int64_t t, std::int64_t head) {
  if (!task.delta) return std::exp(log_decay(task.gate, task.decay[head], {}));
  GateTerms terms{.lower_bound = task.lower_bound};
  if (task.a_log != nullptr) terms.rate = std::exp(task.a_log[head]);
  if (task.dt_bias != nullptr) terms.bias = task.dt_bias[head];
  return std::exp(log_decay(task.gate, number(task.g.at(t, head), task.g.dtype), terms));
}

/// Prepares what is the same for all columns: tokens [t, t + tokens) of the batch's rows.
inline HWY_ATTR void prepare(const HeadsTask& task, std::int64_t t, std::int64_t tokens,
                             std::int64_t head, const float* bias, Scratch& scratch) {
  const F32Tag tag;
  const std::int64_t key_head = head / task.group;
  for (std::int64_t i = 0; i < tokens; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * scratch.keys;
    widen(task.q.at(t + i, key_head), task.q.dtype, task.key_dim, scratch.q + at);
    widen(task.k.at(t + i, key_head), task.k.dtype, task.key_dim, scratch.k + at);
    scale_row(scratch.q + at, scratch.keys, task.l2norm, task.scale);
    if (task.l2norm) scale_row(scratch.k + at, scratch.keys, true, 1);
    if (task.channel_gate) {
      widen(task.g.at(t + i, head), task.g.dtype, task.key_dim, scratch.decay + at);
      decay_row(task, head, scratch.keys, bias, scratch.decay + at);
    } else {
      const F32Vec decay = hn::Set(tag, static_cast<float>(head_decay(task, t + i, head)));
      for (std::size_t c = 0; c < scratch.keys; c += lanes()) {
        hn::StoreU(decay, tag, scratch.decay + at + c);
      }
    }
    if (!task.delta) continue;
    for (std::size_t c = at; c < at + scratch.keys; c += lanes()) {
      hn::StoreU(hn::Mul(hn::LoadU(tag, scratch.k + c), hn::LoadU(tag, scratch.decay + c)), tag,
                 scratch.decayed_k + c);
    }
    scratch.beta[i] = static_cast<float>(beta_of(task.beta_form,
                                                 number(task.beta.at(t + i, head), task.beta.dtype),
                                                 task.negative_eigenvalues));
  }
}

}  // namespace einkorn::linear_attention::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // EINKORN_OPS_LINEAR_ATTENTION_HEADS_INL_H_
