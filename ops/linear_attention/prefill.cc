// Problems of the prefill ops: keys, what follows from what, work and tolerance.

#include "ops/linear_attention/prefill.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "ops/linear_attention/prefill_tensors.h"
#include "ops/rows.h"
#include "src/core/float.h"

namespace einkorn::linear_attention {
namespace {

/// Twice the mean of several, so that lengths differ.
std::int64_t default_longest(const PrefillProblem& problem) {
  if (problem.seqs <= 1) return problem.tokens;
  return std::min(problem.tokens, (2 * problem.tokens + problem.seqs - 1) / problem.seqs);
}

/// What the fields that were not given are, `align` apart.
PrefillProblem followed(const PrefillKind& kind, const PrefillProblem& problem) {
  PrefillProblem out;
  out.value_heads = problem.heads;
  out.value_dim = problem.key_dim;
  out.longest = default_longest(problem);
  if (kind.delta) {
    out.gate_dtype = out.beta_dtype = problem.dtype;
    out.a_log = problem.gate == Gate::kSoftplus;
  }
  if (problem.checkpoint_every > 0) out.checkpoints = kF32;
  return out;
}

void check_state(const PrefillKind& kind, std::string_view key, std::optional<DType> dtype) {
  EK_CHECK(!dtype || *dtype == kF32 || *dtype == kBF16, ErrorKind::kValue,
           fmt::format("{}: {}: expected none, f32 or bf16, got {}", kind.op, key, name(*dtype)));
}

void check_steps(const PrefillKind& kind, std::string_view key, std::int64_t tokens) {
  EK_CHECK(tokens % kChunk == 0, ErrorKind::kValue,
           fmt::format("{}: {}: expected a multiple of {} tokens, or 0, got {}", kind.op, key,
                       kChunk, tokens));
}

void check_sequences(const PrefillKind& kind, const PrefillProblem& problem) {
  if (problem.seqs == 0) {
    EK_CHECK(problem.longest == problem.tokens, ErrorKind::kValue,
             fmt::format("{}: longest: expected {}, the tokens of a row, with seqs=0, got {}",
                         kind.op, problem.tokens, problem.longest));
    return;
  }
  EK_CHECK(
      problem.batch == 1, ErrorKind::kValue,
      fmt::format("{}: batch: expected 1 with packed sequences, got {}", kind.op, problem.batch));
  const std::int64_t mean = (problem.tokens + problem.seqs - 1) / problem.seqs;
  EK_CHECK(
      problem.longest >= mean && problem.longest <= problem.tokens, ErrorKind::kValue,
      fmt::format("{}: longest: expected {} to {} for {} sequences of {} tokens together, got "
                  "{}",
                  kind.op, mean, problem.tokens, problem.seqs, problem.tokens, problem.longest));
}

void check_dtypes(const PrefillKind& kind, const PrefillProblem& problem) {
  check_prefill_float(kind, "dtype", problem.dtype);
  check_state(kind, "initial_state", problem.initial_state);
  check_state(kind, "final_state", problem.final_state);
  check_state(kind, "checkpoints", problem.checkpoints);
}

void check(const PrefillKind& kind, const PrefillProblem& problem) {
  EK_CHECK(problem.value_heads % problem.heads == 0, ErrorKind::kValue,
           fmt::format("{}: value_heads: expected a multiple of heads, {}, got {}", kind.op,
                       problem.heads, problem.value_heads));
  check_dtypes(kind, problem);
  check_sequences(kind, problem);
  check_steps(kind, "checkpoint_every", problem.checkpoint_every);
  EK_CHECK((problem.checkpoint_every > 0) == problem.checkpoints.has_value(), ErrorKind::kValue,
           fmt::format("{}: checkpoints: expected {}, got {}", kind.op,
                       problem.checkpoint_every > 0 ? "a dtype with checkpoint_every above 0"
                                                    : "none with checkpoint_every 0",
                       problem.checkpoints ? name(*problem.checkpoints) : "none"));
  check_steps(kind, "segment", problem.segment);
  EK_CHECK(problem.segment == 0 || problem.segment < problem.longest, ErrorKind::kValue,
           fmt::format("{}: segment: expected fewer tokens than the longest sequence has, {}, got "
                       "{}",
                       kind.op, problem.longest, problem.segment));
}

void check_align(const PrefillKind& kind, const PrefillProblem& problem) {
  int smallest = 4;
  for (const PrefillTensor& one : prefill_tensors(kind, problem)) {
    if (one.aligned) smallest = std::min(smallest, bits(one.dtype) / 8);
  }
  const int largest = largest_prefill_align(kind, problem);
  EK_CHECK(problem.align > 0 && std::has_single_bit(static_cast<unsigned>(problem.align)) &&
               problem.align >= smallest && problem.align <= largest,
           ErrorKind::kValue,
           fmt::format("{}: align: expected a power of two from {} to {}, the bytes of an element "
                       "and what divides every head, got {}",
                       kind.op, smallest, largest, problem.align));
}

}  // namespace

std::vector<PrefillTensor> prefill_tensors(const PrefillKind& kind, const PrefillProblem& p) {
  const std::int64_t seqs = p.sequences();
  const bool kv = p.state_layout == StateLayout::kKv;
  const auto rows = [&](std::string_view name, std::int64_t heads, std::int64_t width,
                        DType dtype) {
    return PrefillTensor{name, {p.batch, p.tokens, heads, width}, dtype, true};
  };
  const auto states = [&](std::string_view name, std::int64_t count, DType dtype) {
    return PrefillTensor{
        name,
        {count, p.value_heads, kv ? p.key_dim : p.value_dim, kv ? p.value_dim : p.key_dim},
        dtype,
        true,
        true};
  };
  std::vector<PrefillTensor> out{rows("q", p.heads, p.key_dim, p.dtype),
                                 rows("k", p.heads, p.key_dim, p.dtype),
                                 rows("v", p.value_heads, p.value_dim, p.dtype),
                                 rows("o", p.value_heads, p.value_dim, p.dtype)};
  if (kind.delta) {
    out.push_back(rows("g", p.value_heads, kind.channel_gate ? p.key_dim : 1, p.gate_dtype));
    out.back().aligned = kind.channel_gate;
    out.push_back(rows("beta", p.value_heads, 1, p.beta_dtype));
    out.back().aligned = false;
  } else {
    out.push_back({"decay", {1, 1, 1, p.value_heads}, kF32, false});
  }
  if (p.a_log) out.push_back({"a_log", {1, 1, 1, p.value_heads}, kF32, false});
  if (p.dt_bias) {
    out.push_back(
        {"dt_bias", {1, 1, p.value_heads, kind.channel_gate ? p.key_dim : 1}, kF32, false});
  }
  if (p.initial_state) out.push_back(states("initial_state", seqs, *p.initial_state));
  if (p.final_state) out.push_back(states("final_state", seqs, *p.final_state));
  if (p.checkpoints && p.checkpoint_every > 0) {
    // At most: a sequence's rest has none.
    out.push_back(states("checkpoints", p.batch * (p.tokens / p.checkpoint_every), *p.checkpoints));
  }
  return out;
}

int largest_prefill_align(const PrefillKind& kind, const PrefillProblem& problem) {
  auto bits_of_all = std::uint64_t{cpu::kMaxAlign};
  for (const PrefillTensor& one : prefill_tensors(kind, problem)) {
    const bool empty = std::ranges::find(one.shape, 0) != one.shape.end();
    if (!one.aligned || (empty && !one.state)) continue;
    std::int64_t stride = bits(one.dtype) / 8;
    for (std::size_t i = 3; i > 0; --i) {
      stride *= one.shape[i];
      // How many states there are is no part of a problem; the first alone decides nothing.
      if (one.shape[i - 1] > 1 || (one.state && i == 1)) {
        bits_of_all |= static_cast<std::uint64_t>(stride);
      }
    }
  }
  return 1 << std::countr_zero(bits_of_all);
}

void check_prefill_float(const PrefillKind& kind, std::string_view key, DType dtype) {
  EK_CHECK(dtype == kF32 || dtype == kF16 || dtype == kBF16, ErrorKind::kValue,
           fmt::format("{}: {}: expected f32, f16 or bf16, got {}", kind.op, key, name(dtype)));
}

PrefillProblem prefill_defaults(const PrefillKind& kind, const PrefillProblem& problem) {
  PrefillProblem out = followed(kind, problem);
  out.align = largest_prefill_align(kind, problem);
  return out;
}

void complete_prefill(const PrefillKind& kind, const KeyValues& pairs, PrefillProblem& problem) {
  const PrefillProblem defaults = followed(kind, problem);
  const auto fill = [&](std::string_view key, auto PrefillProblem::* member) {
    if (!cpu::given(pairs, key)) problem.*member = defaults.*member;
  };
  fill("value_heads", &PrefillProblem::value_heads);
  fill("value_dim", &PrefillProblem::value_dim);
  fill("longest", &PrefillProblem::longest);
  fill("gate_dtype", &PrefillProblem::gate_dtype);
  fill("beta_dtype", &PrefillProblem::beta_dtype);
  fill("a_log", &PrefillProblem::a_log);
  fill("checkpoints", &PrefillProblem::checkpoints);
  check(kind, problem);
  // What 64 bits hold of bytes, gaps included.
  const double bytes = prefill_work(kind, problem).min_bytes;
  EK_CHECK(bytes < 0x1p56, ErrorKind::kValue,
           fmt::format("{}: tokens: expected tensors of fewer than 2^56 bytes, got {:.3g}", kind.op,
                       bytes));
  if (!cpu::given(pairs, "align")) problem.align = largest_prefill_align(kind, problem);
  check_align(kind, problem);
}

std::vector<Key> prefill_keys(std::vector<Key> keys) {
  for (Key& key : keys) {
    if (key.name == "checkpoint_every" || key.name == "segment") {
      key.allowed += fmt::format(" by {}", kChunk);
    } else if (key.type == "dtype") {
      key.allowed = key.allowed.empty() ? "f32|f16|bf16" : "none|f32|bf16";
    } else if (key.name == "align") {
      key.doc += " (default: the largest that the sizes allow)";
    }
  }
  return keys;
}

Work prefill_work(const PrefillKind& kind, const PrefillProblem& problem) {
  Work work;
  const double cells = static_cast<double>(problem.batch * problem.tokens) *
                       static_cast<double>(problem.value_heads) *
                       static_cast<double>(problem.key_dim * problem.value_dim);
  // A multiplication and an addition a cell of the state: k u into it, and q out of it; for the
  // delta rule k out of it, too; and the decay, a multiplication.
  work.useful_flops = work.executed_flops = cells * (kind.delta ? 7 : 5);
  for (const PrefillTensor& one : prefill_tensors(kind, problem)) {
    double bytes = bits(one.dtype) / 8.0;
    for (const std::int64_t size : one.shape) bytes *= static_cast<double>(size);
    work.min_bytes += bytes;
  }
  work.est_bytes = work.min_bytes;
  work.launches = problem.empty() ? 0 : 1;
  work.unit = problem.dtype == kF32 ? Unit::kF32 : Unit::kTensor16;
  return work;
}

// A rounding to a dtype of unit roundoff u moves a value by 0.41 u of its size, root mean square:
// the error is uniform within half a unit of the last place, 2 u of the power of two below it, so
// 2 u / sqrt(12) = 0.58 u of that power, which is 0.71 of the value where mantissas are
// logarithmic. Independent roundings add as squares.
//
// 16-bit dtypes: a chunked kernel rounds its operands to the dtype, k and q with their decays, the
// transposed k, the inverse and the masked products, the state, and u, of which at most five meet
// in one sum of weight one; then the output: sqrt(6) * 0.41 u = 1.0 u, 0.0039 for bf16. A state in
// bf16 is an output of that dtype.
//
// f32, over L tokens: each step rounds the state twice and the decay once (exp within 1 ulp, 2 u).
// The two are independent from step to step and add as squares, sqrt(2 L) * 0.41 u; a decay that
// stays the same is off in the same direction each time, so that counts in full, 2 u a step. Sums
// over K and the solution of a chunk's triangle, whose error follows the number of its rows, add
// some 4 * 64 u.
Tolerance prefill_tolerance(const PrefillProblem& problem) {
  double u = problem.dtype == kF32 ? 0 : unit_roundoff(problem.dtype);
  for (const auto& state : {problem.final_state, problem.checkpoints}) {
    if (state && *state != kF32) u = std::max(u, unit_roundoff(*state));
  }
  const auto steps = static_cast<double>(problem.longest);
  const double f32_part = (256 + 2 * steps + 0.6 * std::sqrt(steps)) * 0x1p-24;
  Tolerance out;
  // A state forgets: over the longest sequences the bound of steps in one direction is no bound.
  out.rms = std::min(u + f32_part, 0.004);
  // Outputs of f16 may be subnormal, in steps of 2^-24; f32 and bf16 may flush theirs.
  out.absolute = problem.dtype == kF16 ? 0x1p-25 / out.rms : 0x1p-126 / out.rms;
  return out;
}

}  // namespace einkorn::linear_attention
