#include "ops/linear_attention/decode.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <einkorn/error.h>
#include <einkorn/match.h>
#include <fmt/format.h>

#include "ops/rows.h"
#include "src/core/float.h"

namespace einkorn::linear_attention {
namespace {

constexpr DTypeSet kElements{kF32, kF16, kBF16};
constexpr DTypeSet kStates{kF32, kBF16};
constexpr DTypeSet kIndices{kI32, kI64};

std::int64_t bytes_of(DType dtype) { return bits(dtype) / 8; }

/// Bytes, a power of two, that divide whatever heads of the tensors and rows of the states follow
/// each other by when nothing has gaps.
int natural_align(Update update, const DecodeProblem& problem) {
  const bool kv = problem.state_layout == StateLayout::kKv;
  std::int64_t parts = cpu::kMaxAlign;
  parts |= problem.key_dim * bytes_of(problem.dtype);
  parts |= problem.value_dim * bytes_of(problem.dtype);
  parts |= (kv ? problem.value_dim : problem.key_dim) * bytes_of(problem.state_dtype);
  if (update == Update::kChannelDelta) parts |= problem.key_dim * bytes_of(problem.gate_dtype);
  if (update == Update::kChannelDelta && problem.dt_bias) parts |= problem.key_dim * bytes_of(kF32);
  return 1 << std::countr_zero(static_cast<std::uint64_t>(parts));
}

void complete_align(std::string_view op, Update update, const KeyValues& pairs,
                    DecodeProblem& problem) {
  const int most = natural_align(update, problem);
  std::int64_t least = std::min(bytes_of(problem.dtype), bytes_of(problem.state_dtype));
  if (update == Update::kChannelDelta) least = std::min(least, bytes_of(problem.gate_dtype));
  if (!cpu::given(pairs, "align")) problem.align = most;
  EK_CHECK(problem.align >= least && problem.align <= most &&
               std::has_single_bit(static_cast<unsigned>(problem.align)),
           ErrorKind::kValue,
           fmt::format("{}: align: expected a power of two from {}, the least element, to {}, "
                       "which divides those of a head, got {}",
                       op, least, most, problem.align));
}

void check_dtype(std::string_view op, std::string_view key, DType dtype, DTypeSet allowed,
                 std::string_view names) {
  EK_CHECK(allowed.has(dtype), ErrorKind::kValue,
           fmt::format("{}: {}: expected {}, got {}", op, key, names, name(dtype)));
}

void check_dtypes(std::string_view op, const DecodeProblem& problem) {
  check_dtype(op, "dtype", problem.dtype, kElements, "f32, f16 or bf16");
  check_dtype(op, "state_dtype", problem.state_dtype, kStates, "f32 or bf16");
  if (problem.indices) check_dtype(op, "indices", *problem.indices, kIndices, "i32, i64 or none");
}

void check_sizes(std::string_view op, const DecodeProblem& problem) {
  EK_CHECK(problem.value_heads % problem.heads == 0, ErrorKind::kValue,
           fmt::format("{}: value_heads: expected a multiple of heads, {}, got {}", op,
                       problem.heads, problem.value_heads));
  EK_CHECK(!problem.per_token || problem.indices, ErrorKind::kValue,
           fmt::format("{}: per_token: expected false without indices, got true", op));
  EK_CHECK(!problem.accepted || problem.per_token, ErrorKind::kValue,
           fmt::format("{}: accepted: expected false without per_token, got true", op));
}

/// What each gate takes beside itself.
void check_gate(std::string_view op, const DecodeProblem& problem) {
  const bool raw = problem.gate == Gate::kSoftplus || problem.gate == Gate::kLowerBound;
  EK_CHECK(problem.a_log || problem.gate != Gate::kSoftplus, ErrorKind::kValue,
           fmt::format("{}: a_log: expected true with gate softplus, got false\n"
                       "  hint: its decay is exp(-exp(a_log) softplus(g + dt_bias))",
                       op));
  for (const auto& [argument, given] :
       {std::pair("a_log", problem.a_log), std::pair("dt_bias", problem.dt_bias)}) {
    EK_CHECK(raw || !given, ErrorKind::kValue,
             fmt::format("{0}: {1}: expected false with gate {2}, got true\n"
                         "  hint: gates softplus and lower_bound take {1}",
                         op, argument, name(problem.gate)));
  }
}

/// The fields that follow from others, where no key gave them.
void fill_in(const KeyValues& pairs, DecodeProblem& problem) {
  const auto absent = [&](std::string_view key) { return !cpu::given(pairs, key); };
  if (absent("value_heads")) problem.value_heads = problem.heads;
  if (absent("value_dim")) problem.value_dim = problem.key_dim;
  if (absent("gate_dtype")) problem.gate_dtype = problem.dtype;
  if (absent("beta_dtype")) problem.beta_dtype = problem.dtype;
  if (absent("a_log")) problem.a_log = problem.gate == Gate::kSoftplus;
}

}  // namespace

void complete_delta_decode(std::string_view op, Update update, const KeyValues& pairs,
                           DecodeProblem& problem) {
  fill_in(pairs, problem);
  check_dtypes(op, problem);
  check_dtype(op, "gate_dtype", problem.gate_dtype, kElements, "f32, f16 or bf16");
  check_dtype(op, "beta_dtype", problem.beta_dtype, kElements, "f32, f16 or bf16");
  check_sizes(op, problem);
  check_gate(op, problem);
  complete_align(op, update, pairs, problem);
}

void complete_decay_decode(std::string_view op, const KeyValues& pairs, DecodeProblem& problem) {
  fill_in(pairs, problem);
  check_dtypes(op, problem);
  check_sizes(op, problem);
  EK_CHECK(problem.gate == Gate::kLog || problem.gate == Gate::kFactor, ErrorKind::kValue,
           fmt::format("{}: gate: expected log or factor, got {}", op, name(problem.gate)));
  complete_align(op, Update::kDecay, pairs, problem);
}

DecodeProblem decode_defaults(Update update, const DecodeProblem& problem) {
  DecodeProblem out;
  out.gate_dtype = out.beta_dtype = problem.dtype;
  out.a_log = problem.gate == Gate::kSoftplus;
  out.align = natural_align(update, problem);
  return out;
}

std::vector<Key> decode_keys(std::vector<Key> keys) {
  for (Key& key : keys) {
    if (key.type != "dtype") continue;
    key.allowed = key.name == "state_dtype" ? "f32|bf16"
                  : key.name == "indices"   ? "none|i32|i64"
                                            : "f32|f16|bf16";
  }
  return keys;
}

Work decode_work(Update update, const DecodeProblem& problem) {
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  const bool delta = update != Update::kDecay;
  const double tokens = number(problem.seqs) * number(problem.tokens);
  const double state =
      number(problem.value_heads) * number(problem.key_dim) * number(problem.value_dim);
  Work work;
  // Of each element of the state: its decay, k times u added, its part of q^T S, and with the delta
  // rule its part of k^T S.
  work.useful_flops = work.executed_flops = tokens * state * (delta ? 7 : 5);
  const double stored = problem.per_token ? tokens : number(problem.seqs);
  double bytes = (number(problem.seqs) + stored) * state * number(bytes_of(problem.state_dtype));
  const double of_value = number(problem.value_heads) * number(problem.value_dim);
  bytes += tokens * number(bytes_of(problem.dtype)) *
           (2 * number(problem.heads) * number(problem.key_dim) + 2 * of_value);
  if (delta) {
    const double gates = update == Update::kChannelDelta ? number(problem.key_dim) : 1;
    bytes += tokens * number(problem.value_heads) *
             (gates * number(bytes_of(problem.gate_dtype)) + number(bytes_of(problem.beta_dtype)));
  }
  work.min_bytes = work.est_bytes = bytes;
  work.launches = problem.seqs > 0 ? 1 : 0;
  return work;
}

// Of the root mean square, relative. Results are rounded to q's dtype and states to theirs: at most
// u each, the larger of the two. In f32 (e = 2^-24) a decay is off by some 8 e and at most 32
// roundings follow for a term of a sum over K: products, chains of at most 16 terms, a tree of 5
// steps, the update. A sum of K terms of both signs is about sqrt(K) times smaller than the sum of
// their sizes. What a token leaves in the state, the next ones take over.
Tolerance decode_tolerance(const DecodeProblem& problem) {
  const double u = std::max(problem.dtype == kF32 ? 0 : unit_roundoff(problem.dtype),
                            problem.state_dtype == kF32 ? 0 : unit_roundoff(problem.state_dtype));
  const double f32_part = 40 * 0x1p-24 * std::sqrt(static_cast<double>(problem.key_dim)) *
                          static_cast<double>(problem.tokens);
  Tolerance tolerance;
  tolerance.rms = u + f32_part;
  tolerance.absolute = 0x1p-100;
  return tolerance;
}

}  // namespace einkorn::linear_attention
