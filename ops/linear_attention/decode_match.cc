#include "ops/linear_attention/decode_match.h"

#include <cmath>
#include <string>
#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ops/linear_attention/match_call.h"
#include "ops/rows.h"

namespace einkorn::linear_attention {
namespace {

constexpr double kLowestBound = -5;

/// The names that the tensors of one call share; a row is a sequence.
struct Names : CallNames {
  Names() : CallNames("seqs", Range{0, kMaxDecodeSeqs}, Range{1, kMaxDecodeTokens}) {}

  Dim pool{"pool", Range{0, kMaxDecodePool}};
  DTypeVar state{"state dtype", {kF32, kBF16}};
  DTypeVar indices{"indices dtype", {kI32, kI64}};
};

void match_gate(const DecodeCall& call, Names& names) {
  const bool channels = call.update == Update::kChannelDelta;
  match_g(call, channels, names);
  match_numbers(call.op, "beta", call.beta, names, names.beta);
  match_raw_terms(call, channels, names);
}

void match_indices(const DecodeCall& call, Names& names) {
  if (call.state_indices.defined()) {
    ArgumentMatcher matcher(call.op, "state_indices", call.state_indices);
    if (call.state_indices.rank() == 2) {
      static_cast<void>(matcher.shape(names.rows, names.tokens));
    } else {
      static_cast<void>(matcher.shape(names.rows));
    }
    matcher.dtype(names.indices)
        .on(names.device)
        .contiguous()
        .hint("[seqs], or [seqs, tokens] for a place for each token's state")
        .verify();
  }
  if (!call.accepted.defined()) return;
  match(call.op, "accepted", call.accepted)
      .shape(names.rows)
      .dtype(kI32)
      .on(names.device)
      .contiguous()
      .verify();
  EK_CHECK(call.state_indices.defined() && call.state_indices.rank() == 2, ErrorKind::kValue,
           fmt::format("{}: accepted: expected state_indices [seqs, tokens] beside it, got {}\n"
                       "  hint: it says which token's state the call goes on from",
                       call.op, call.state_indices.defined() ? "[seqs]" : "no state_indices"));
}

void match_state(const DecodeCall& call, Names& names) {
  const bool kv = call.state_layout == StateLayout::kKv;
  match(call.op, "state", call.state)
      .shape(names.pool, names.value_heads, kv ? names.key_dim : names.value_dim,
             kv ? names.value_dim : names.key_dim)
      .dtype(names.state)
      .on(names.device)
      .contiguous()
      .writable()
      .hint(kv ? "state_layout kv: [pool, value_heads, key_dim, value_dim]"
               : "state_layout vk: [pool, value_heads, value_dim, key_dim]")
      .verify();
  if (call.state_indices.defined()) return;
  EK_CHECK(names.pool.value() >= names.rows.value(), ErrorKind::kValue,
           fmt::format("{}: state size(0): expected at least {}, one for each sequence of q, got "
                       "{}\n  hint: state_indices says which states are meant",
                       call.op, names.rows.value(), names.pool.value()));
}

template <NamedEnum E>
std::string choices() {
  return fmt::format("{}", fmt::join(EnumNames<E>::kNames, ", "));
}

template <NamedEnum E>
void check_choice(std::string_view op, std::string_view argument, E value) {
  EK_CHECK(static_cast<std::size_t>(value) < EnumNames<E>::kNames.size(), ErrorKind::kValue,
           fmt::format("{}: {} value: expected one of {}, got the number {}", op, argument,
                       choices<E>(), static_cast<unsigned>(value)));
}

void check_scalars(const DecodeCall& call) {
  check_choice(call.op, "gate", call.gate);
  check_choice(call.op, "state_layout", call.state_layout);
  EK_CHECK(
      std::isfinite(static_cast<float>(call.scale)), ErrorKind::kValue,
      fmt::format("{}: scale value: expected a finite f32 number, got {}", call.op, call.scale));
}

/// The scalars of a delta rule, and what each gate takes beside itself.
void check_delta_scalars(const DecodeCall& call) {
  check_scalars(call);
  check_choice(call.op, "beta_form", call.beta_form);
  EK_CHECK(call.lower_bound >= kLowestBound && call.lower_bound < 0, ErrorKind::kValue,
           fmt::format("{}: lower_bound value: expected from {} to below 0, got {}", call.op,
                       kLowestBound, call.lower_bound));
  EK_CHECK(call.gate != Gate::kSoftplus || call.a_log.defined(), ErrorKind::kValue,
           fmt::format("{}: a_log: expected a tensor with gate softplus, got no tensor\n"
                       "  hint: its decay is exp(-exp(a_log) softplus(g + dt_bias))",
                       call.op));
  const bool raw = call.gate == Gate::kSoftplus || call.gate == Gate::kLowerBound;
  for (const auto& [argument, tensor] :
       {std::pair("a_log", &call.a_log), std::pair("dt_bias", &call.dt_bias)}) {
    EK_CHECK(raw || !tensor->defined(), ErrorKind::kValue,
             fmt::format("{0}: {1}: expected no tensor with gate {2}, got one\n"
                         "  hint: gates softplus and lower_bound take {1}",
                         call.op, argument, name(call.gate)));
  }
}

/// `state` and `o` share no memory with what is read, nor with each other.
void check_overlaps(const DecodeCall& call) {
  const cpu::Memory state("state", call.state);
  const cpu::Memory o("o", call.o);
  for (const cpu::Memory& input :
       {cpu::Memory("q", call.q), cpu::Memory("k", call.k), cpu::Memory("v", call.v),
        cpu::Memory("state_indices", call.state_indices), cpu::Memory("accepted", call.accepted)}) {
    cpu::check_apart(call.op, state, input);
    cpu::check_apart(call.op, o, input);
  }
  cpu::check_apart(call.op, o, state);
}

/// The same of what a delta rule has.
void check_delta_overlaps(const DecodeCall& call) {
  const cpu::Memory state("state", call.state);
  const cpu::Memory o("o", call.o);
  for (const cpu::Memory& input : delta_memory(call)) {
    cpu::check_apart(call.op, state, input);
    cpu::check_apart(call.op, o, input);
  }
}

/// What of a tensor of heads has to be divisible for pieces of a head to be.
void add_heads(cpu::RowFacts& facts, const TensorView& tensor) {
  facts.add_address(tensor);
  const std::int64_t element = bits(tensor.dtype()) / 8;
  if (tensor.size(2) > 1) facts.add_parts(tensor.stride(2) * element);
  if (tensor.size(0) * tensor.size(1) > 1) {
    facts.add_parts(collapsed_row_stride(tensor, 2).value_or(0) * element);
  }
  facts.add_parts(tensor.size(3) * element);
}

int alignment(const DecodeCall& call) {
  cpu::RowFacts facts(call.q.size(0));
  for (const TensorView* tensor : {&call.q, &call.k, &call.v, &call.o}) add_heads(facts, *tensor);
  if (call.update == Update::kChannelDelta) add_heads(facts, call.g);
  if (call.update == Update::kChannelDelta && call.dt_bias.defined()) {
    facts.add_address(call.dt_bias);
    facts.add_parts(call.dt_bias.size(1) * bits(kF32) / 8);
  }
  facts.add_address(call.state);
  facts.add_parts(call.state.size(3) * bits(call.state.dtype()) / 8);
  return facts.align();
}

/// The tensors that every call has but its gates, before them and after them.
void match_decode_inputs(const DecodeCall& call, Names& names) {
  match_inputs(call, names);
  EK_CHECK(names.value_heads.value() % names.heads.value() == 0, ErrorKind::kValue,
           fmt::format("{}: v size(2): expected a multiple of the heads of q, {}, got {}", call.op,
                       names.heads.value(), names.value_heads.value()));
}
void match_outputs(const DecodeCall& call, Names& names) {
  match_indices(call, names);
  match_state(call, names);
  match_tokens(call.op, Role::kOutput, "o", call.o, names, names.value_heads, names.value_dim,
               names.dtype);
  check_overlaps(call);
}

DecodeProblem matched(const DecodeCall& call, const Names& names) {
  DecodeProblem problem;
  problem.seqs = names.rows.value();
  problem.tokens = names.tokens.value();
  problem.heads = names.heads.value();
  problem.value_heads = names.value_heads.value();
  problem.key_dim = names.key_dim.value();
  problem.value_dim = names.value_dim.value();
  problem.dtype = problem.gate_dtype = problem.beta_dtype = names.dtype.value();
  problem.gate = call.gate;
  problem.l2norm = call.l2norm;
  problem.state_dtype = names.state.value();
  problem.state_layout = call.state_layout;
  if (call.state_indices.defined()) problem.indices = names.indices.value();
  problem.per_token = call.state_indices.defined() && call.state_indices.rank() == 2;
  problem.accepted = call.accepted.defined();
  problem.align = alignment(call);
  return problem;
}

}  // namespace

DecodeProblem match_delta_decode(const DecodeCall& call) {
  check_delta_scalars(call);
  Names names;
  match_decode_inputs(call, names);
  match_gate(call, names);
  match_outputs(call, names);
  check_delta_overlaps(call);
  DecodeProblem problem = matched(call, names);
  problem.gate_dtype = names.gate.value();
  problem.beta_dtype = names.beta.value();
  problem.beta_form = call.beta_form;
  problem.negative_eigenvalues = call.negative_eigenvalues;
  problem.a_log = call.a_log.defined();
  problem.dt_bias = call.dt_bias.defined();
  return problem;
}

DecodeProblem match_decay_decode(const DecodeCall& call) {
  check_scalars(call);
  EK_CHECK(call.gate == Gate::kLog || call.gate == Gate::kFactor, ErrorKind::kValue,
           fmt::format("{}: gate value: expected log or factor, got {}", call.op, name(call.gate)));
  Names names;
  match_decode_inputs(call, names);
  match_vector(call.op, "decay", call.decay, names);
  match_outputs(call, names);
  const cpu::Memory decay("decay", call.decay);
  cpu::check_apart(call.op, cpu::Memory("state", call.state), decay);
  cpu::check_apart(call.op, cpu::Memory("o", call.o), decay);
  return matched(call, names);
}

}  // namespace einkorn::linear_attention
