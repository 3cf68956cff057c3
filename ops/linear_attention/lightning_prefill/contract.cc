#include "ops/linear_attention/lightning_prefill/contract.h"

#include <einkorn/dispatch.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "ops/linear_attention/prefill_match.h"

namespace einkorn {

namespace {

using Call = linear_attention::PrefillCall;
using linear_attention::Gate;

bool is_gate(Gate gate) { return gate == Gate::kLog || gate == Gate::kFactor; }

void match_decay(const Call& call, linear_attention::PrefillNames& names) {
  linear_attention::check_choice(call.op, "gate", call.gate);
  EK_CHECK(is_gate(call.gate), ErrorKind::kValue,
           fmt::format("{}: gate: expected log or factor, got {}", call.op, name(call.gate)));
  linear_attention::match_vector(call.op, "decay", call.decay, names);
}

}  // namespace

LightningPrefill::Problem LightningPrefill::match(const Args& args, std::optional<Stream> stream) {
  const auto call = linear_attention::prefill_call<LightningPrefill>(args, stream);
  linear_attention::PrefillNames names;
  linear_attention::match_prefill_inputs(call, names);
  match_decay(call, names);
  Problem problem{linear_attention::match_prefill(call, names)};
  linear_attention::check_outputs_apart(call, cpu::Memory("decay", call.decay));
  return problem;
}

std::vector<Key> LightningPrefill::keys() {
  return linear_attention::prefill_keys(describe_fields<Problem>());
}

LightningPrefill::Problem LightningPrefill::parse(const KeyValues& pairs) {
  auto problem = parse_fields<Problem>(kName, pairs);
  linear_attention::complete_prefill(kKind, pairs, problem);
  EK_CHECK(is_gate(problem.gate), ErrorKind::kValue,
           fmt::format("{}: gate: expected log or factor, got {}", kName, name(problem.gate)));
  return problem;
}

std::string LightningPrefill::print(const Problem& problem) {
  return print_fields(problem, linear_attention::kAlwaysPrintedOfPrefill,
                      Problem{linear_attention::prefill_defaults(kKind, problem)});
}

Work LightningPrefill::work(const Problem& problem) {
  return linear_attention::prefill_work(kKind, problem);
}

Tolerance LightningPrefill::tolerance(const Problem& problem) {
  return linear_attention::prefill_tolerance(problem);
}

namespace lightning_prefill {

void run(const LightningPrefill::Args& args, Stream stream, std::string_view variant) {
  dispatch<LightningPrefill>(args, stream, variant);
}

void prepare(const LightningPrefill::Args& args, Stream stream, std::string_view variant) {
  einkorn::prepare<LightningPrefill>(args, stream, variant);
}

// NOLINTNEXTLINE(readability-identifier-naming): the name that ops/variants.inc expands to
extern const OpDef definition;
constexpr OpDef definition =
    make_op<LightningPrefill>([](const void* args, Stream stream, std::string_view variant) {
      run(*static_cast<const LightningPrefill::Args*>(args), stream, variant);
    });

}  // namespace lightning_prefill
}  // namespace einkorn
