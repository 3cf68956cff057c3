#include "ops/linear_attention/delta_prefill.h"

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::linear_attention {
namespace {

void check_needless(const PrefillCall& call, std::string_view argument, const TensorView& tensor) {
  EK_CHECK(!tensor.defined(), ErrorKind::kType,
           fmt::format("{}: {}: expected no tensor with gate {}, got {}\n"
                       "  hint: only the raw forms, softplus and lower_bound, use it",
                       call.op, argument, name(call.gate), to_string(tensor)));
}

void match_raw_gate(const PrefillCall& call, PrefillNames& names) {
  if (call.gate == Gate::kLog || call.gate == Gate::kFactor) {
    check_needless(call, "a_log", call.a_log);
    check_needless(call, "dt_bias", call.dt_bias);
    return;
  }
  EK_CHECK(call.a_log.defined() || call.gate != Gate::kSoftplus, ErrorKind::kType,
           fmt::format("{}: a_log: expected a tensor with gate softplus, got no tensor", call.op));
  match_raw_terms(call, call.channel_gate, names);
}

}  // namespace

void match_delta(const PrefillCall& call, PrefillNames& names) {
  check_choice(call.op, "gate", call.gate);
  match_g(call, call.channel_gate, names);
  check_choice(call.op, "beta_form", call.beta_form);
  match_numbers(call.op, "beta", call.beta, names, names.beta);
  match_raw_gate(call, names);
  // Written so that NaN fails, too.
  EK_CHECK(call.lower_bound >= -5 && call.lower_bound < 0, ErrorKind::kValue,
           fmt::format("{}: lower_bound: expected at least -5 and below 0, got {}", call.op,
                       call.lower_bound));
}

void check_delta_overlaps(const PrefillCall& call) {
  for (const cpu::Memory& input : delta_memory(call)) check_outputs_apart(call, input);
}

void check_delta(const PrefillKind& kind, const PrefillProblem& problem) {
  check_prefill_float(kind, "gate_dtype", problem.gate_dtype);
  check_prefill_float(kind, "beta_dtype", problem.beta_dtype);
  const bool raw = problem.gate == Gate::kSoftplus || problem.gate == Gate::kLowerBound;
  EK_CHECK(raw || !(problem.a_log || problem.dt_bias), ErrorKind::kValue,
           fmt::format("{}: {}: expected false with gate {}, got true", kind.op,
                       problem.a_log ? "a_log" : "dt_bias", name(problem.gate)));
  EK_CHECK(problem.gate != Gate::kSoftplus || problem.a_log, ErrorKind::kValue,
           fmt::format("{}: a_log: expected true with gate softplus, got false", kind.op));
}

}  // namespace einkorn::linear_attention
