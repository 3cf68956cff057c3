// Tensors that stand for a decode problem.

#include <cmath>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <span>
#include <utility>

#include "ops/linear_attention/decode.h"
#include "ops/rows.h"

namespace einkorn::linear_attention {
namespace {

/// Mean and deviation of a distribution whose values are within 3.5 deviations of the mean.
struct Normal {
  double mean = 0;
  double deviation = 1;
};

/// Gates that keep between a sixth and nearly all of the state, so that a decay left out and a
/// state left out both show; raw ones cover their formulas.
Normal gate_values(Gate gate) {
  switch (gate) {
    case Gate::kLog:
      return {-0.9, 0.25};
    case Gate::kFactor:
      return {0.6, 0.11};
    case Gate::kSoftplus:
    case Gate::kLowerBound:
      return {0, 1};
  }
  return {};
}

class Maker {
 public:
  Maker(const DecodeProblem& problem, std::vector<Tensor>& storage, Rng& rng)
      : problem_(problem),
        storage_(storage),
        rng_(rng),
        stored_(problem.seqs * (problem.per_token ? problem.tokens : 1)),
        // States that nobody names, to be left alone.
        pool_(stored_ + (problem.indices ? 3 : 0)) {}

  /// [seqs, tokens, heads, size], or without the last where size is 0.
  TensorView tokens(std::int64_t heads, std::int64_t size, DType dtype, Normal values) {
    const std::int64_t rows = problem_.seqs * problem_.tokens;
    const std::int64_t cols = heads * (size > 0 ? size : 1);
    const TensorView memory =
        cpu::place_rows({.rows = rows, .align = problem_.align}, cols, dtype, storage_);
    cpu::fill_normal(memory, values.mean, values.deviation, rng_);
    const std::int64_t shape[] = {problem_.seqs, problem_.tokens, heads, size};
    return {memory.data(), dtype, std::span(shape).first(size > 0 ? 4 : 3), kCpuDevice};
  }

  /// f32, of any rank.
  TensorView vector(std::initializer_list<std::int64_t> shape, Normal values) {
    const std::int64_t count =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    const TensorView memory = cpu::place_vector({.align = problem_.align}, count, kF32, storage_);
    cpu::fill_normal(memory, values.mean, values.deviation, rng_);
    return {memory.data(), kF32, shape, kCpuDevice};
  }

  TensorView state() {
    const bool kv = problem_.state_layout == StateLayout::kKv;
    const std::int64_t rows = kv ? problem_.key_dim : problem_.value_dim;
    const std::int64_t cols = kv ? problem_.value_dim : problem_.key_dim;
    const TensorView memory =
        cpu::place_rows({.rows = pool_, .align = problem_.align},
                        problem_.value_heads * rows * cols, problem_.state_dtype, storage_);
    cpu::fill_normal(memory, 0, 0.5, rng_);
    return {
        memory.data(), problem_.state_dtype, {pool_, problem_.value_heads, rows, cols}, kCpuDevice};
  }

  /// A row of the pool for each state that the call stores, each row once and in no order.
  TensorView indices(DType dtype) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(pool_));
    std::iota(rows.begin(), rows.end(), std::int64_t{0});
    for (std::size_t i = rows.size(); i > 1; --i) {
      std::swap(rows[i - 1], rows[rng_.next() % i]);
    }
    rows.resize(static_cast<std::size_t>(stored_));
    const TensorView memory =
        cpu::place_vector({.align = problem_.align}, stored_, dtype, storage_);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (dtype == kI32) {
        memory.data_as<std::int32_t>()[i] = static_cast<std::int32_t>(rows[i]);
      } else {
        memory.data_as<std::int64_t>()[i] = rows[i];
      }
    }
    const std::int64_t shape[] = {problem_.seqs, problem_.tokens};
    return {memory.data(), dtype, std::span(shape).first(problem_.per_token ? 2 : 1), kCpuDevice};
  }

  TensorView accepted() {
    const TensorView memory =
        cpu::place_vector({.align = problem_.align}, problem_.seqs, kI32, storage_);
    for (std::int64_t i = 0; i < problem_.seqs; ++i) {
      const auto token = rng_.next() % static_cast<std::uint64_t>(problem_.tokens);
      memory.data_as<std::int32_t>()[i] = static_cast<std::int32_t>(token) + 1;
    }
    return memory;
  }

 private:
  const DecodeProblem& problem_;
  std::vector<Tensor>& storage_;
  Rng& rng_;
  std::int64_t stored_;  ///< states that the call stores
  std::int64_t pool_;
};

void make_gates(Update rule, const DecodeProblem& problem, Maker& maker, DecodeTensors& out) {
  const std::int64_t heads = problem.value_heads;
  const Normal gates = gate_values(problem.gate);
  if (rule == Update::kDecay) {
    out.decay = maker.vector({heads}, gates);
    return;
  }
  const bool channel = rule == Update::kChannelDelta;
  out.g = maker.tokens(heads, channel ? problem.key_dim : 0, problem.gate_dtype, gates);
  const Normal betas = problem.beta_form == Beta::kLogit ? Normal{0, 1} : Normal{0.5, 0.14};
  out.beta = maker.tokens(heads, 0, problem.beta_dtype, betas);
  if (problem.a_log) out.a_log = maker.vector({heads}, {-0.5, 0.5});
  if (!problem.dt_bias) return;
  const Normal bias{-0.5, 0.7};
  out.dt_bias =
      channel ? maker.vector({heads, problem.key_dim}, bias) : maker.vector({heads}, bias);
}

}  // namespace

DecodeTensors make_decode_tensors(Update update, const DecodeProblem& problem,
                                  std::vector<Tensor>& storage, Rng& rng) {
  Maker maker(problem, storage, rng);
  DecodeTensors out;
  // Keys of length about 1: longer ones make the delta rule grow without bound.
  const double deviation = problem.l2norm ? 1 : 1 / std::sqrt(static_cast<double>(problem.key_dim));
  out.q = maker.tokens(problem.heads, problem.key_dim, problem.dtype, {0, deviation});
  out.k = maker.tokens(problem.heads, problem.key_dim, problem.dtype, {0, deviation});
  out.v = maker.tokens(problem.value_heads, problem.value_dim, problem.dtype, {0, 1});
  make_gates(update, problem, maker, out);
  if (problem.indices) out.state_indices = maker.indices(*problem.indices);
  if (problem.accepted) out.accepted = maker.accepted();
  out.state = maker.state();
  out.o = maker.tokens(problem.value_heads, problem.value_dim, problem.dtype, {});
  return out;
}

}  // namespace einkorn::linear_attention
