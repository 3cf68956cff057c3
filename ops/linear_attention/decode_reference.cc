// The decode ops in double: what every variant is held against.

#include <cmath>
#include <vector>

#include "ops/linear_attention/decode.h"
#include "ops/linear_attention/decode_rows.h"
#include "ops/linear_attention/gates.h"
#include "src/core/float.h"
#include "src/cpu/threads.h"

namespace einkorn::linear_attention {
namespace {

using Values = std::vector<double>;

double load(const TensorView& tensor, std::initializer_list<std::int64_t> index) {
  std::int64_t offset = 0;
  int dim = 0;
  for (const std::int64_t i : index) offset += i * tensor.stride(dim++);
  return load_as_double(tensor, offset);
}

/// One value head of one sequence: its state, [K, V] whatever the layout, and its tokens.
class Head {
 public:
  Head(const DecodeCall& call, std::int64_t seq, std::int64_t head)
      : call_(call),
        seq_(seq),
        head_(head),
        key_head_(head / (call.v.size(2) / call.q.size(2))),
        keys_(call.q.size(3)),
        values_(call.v.size(3)),
        state_(static_cast<std::size_t>(keys_ * values_)) {}

  void load_state(std::int64_t row) {
    for_each_element(row, [&](double& element, std::int64_t offset) {
      element = load_as_double(call_.state, offset);
    });
  }

  void store_state(std::int64_t row) {
    for_each_element(row, [&](double& element, std::int64_t offset) {
      store_from_double(call_.state, offset, element);
    });
  }

  void step(std::int64_t token) {
    const Values k = key(call_.k, token);
    const Values q = key(call_.q, token);
    const bool delta = call_.update != Update::kDecay;
    const double beta = delta ? beta_of(call_.beta_form, load(call_.beta, {seq_, token, head_}),
                                        call_.negative_eigenvalues)
                              : 1;
    for (std::int64_t i = 0; i < keys_; ++i) {
      const double decay = std::exp(log_decay_of(token, i));
      for (std::int64_t j = 0; j < values_; ++j) at(i, j) *= decay;
    }
    for (std::int64_t j = 0; j < values_; ++j) {
      double u = load(call_.v, {seq_, token, head_, j});
      if (delta) {
        for (std::int64_t i = 0; i < keys_; ++i) u -= k[index(i)] * at(i, j);
        u *= beta;
      }
      double o = 0;
      for (std::int64_t i = 0; i < keys_; ++i) {
        at(i, j) += k[index(i)] * u;
        o += q[index(i)] * at(i, j);
      }
      const TensorView& to = call_.o;
      store_from_double(
          to, seq_ * to.stride(0) + token * to.stride(1) + head_ * to.stride(2) + j * to.stride(3),
          call_.used_scale() * o);
    }
  }

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  double& at(std::int64_t i, std::int64_t j) { return state_[index(i * values_ + j)]; }

  template <class F>
  void for_each_element(std::int64_t row, F&& f) {
    const TensorView& state = call_.state;
    const bool kv = call_.state_layout == StateLayout::kKv;
    const std::int64_t first = row * state.stride(0) + head_ * state.stride(1);
    for (std::int64_t i = 0; i < keys_; ++i) {
      for (std::int64_t j = 0; j < values_; ++j) {
        f(at(i, j), first + (kv ? i : j) * state.stride(2) + (kv ? j : i) * state.stride(3));
      }
    }
  }

  Values key(const TensorView& tensor, std::int64_t token) const {
    Values out(index(keys_));
    double squares = 0;
    for (std::int64_t i = 0; i < keys_; ++i) {
      out[index(i)] = load(tensor, {seq_, token, key_head_, i});
      squares += out[index(i)] * out[index(i)];
    }
    if (call_.l2norm) {
      for (double& one : out) one /= std::sqrt(squares + kNormEps);
    }
    return out;
  }

  double log_decay_of(std::int64_t token, std::int64_t i) const {
    if (call_.update == Update::kDecay) {
      return log_decay(call_.gate, load(call_.decay, {head_}), {});
    }
    const bool channel = call_.update == Update::kChannelDelta;
    GateTerms terms;
    terms.lower_bound = call_.lower_bound;
    if (call_.a_log.defined()) terms.rate = std::exp(load(call_.a_log, {head_}));
    if (call_.dt_bias.defined()) {
      terms.bias = channel ? load(call_.dt_bias, {head_, i}) : load(call_.dt_bias, {head_});
    }
    const double gate =
        channel ? load(call_.g, {seq_, token, head_, i}) : load(call_.g, {seq_, token, head_});
    return log_decay(call_.gate, gate, terms);
  }

  const DecodeCall& call_;
  std::int64_t seq_, head_, key_head_, keys_, values_;
  Values state_;
};

}  // namespace

void decode_reference(const DecodeCall& call) {
  const std::int64_t seqs = call.q.size(0);
  const std::int64_t tokens = call.q.size(1);
  const std::int64_t heads = call.v.size(2);
  const PoolRows rows(call.state, call.state_indices, call.accepted, tokens);
  cpu::parallel_for(0, seqs * heads, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t seq = i / heads;
      const std::int64_t first = rows.first(seq);
      if (first == kNoRow) continue;
      Head head(call, seq, i % heads);
      head.load_state(first);
      for (std::int64_t token = 0; token < tokens; ++token) {
        head.step(token);
        if (const auto row = rows.after(seq, token); row != kNoRow) head.store_state(row);
      }
    }
  });
}

}  // namespace einkorn::linear_attention
