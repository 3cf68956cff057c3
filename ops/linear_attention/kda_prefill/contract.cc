#include "ops/linear_attention/kda_prefill/contract.h"

#include <einkorn/dispatch.h>

#include "ops/linear_attention/delta_prefill.h"

namespace einkorn {

KdaPrefill::Problem KdaPrefill::match(const Args& args, std::optional<Stream> stream) {
  const auto call = linear_attention::prefill_call<KdaPrefill>(args, stream);
  linear_attention::PrefillNames names;
  linear_attention::match_prefill_inputs(call, names);
  linear_attention::match_delta(call, names);
  Problem problem{linear_attention::match_prefill(call, names)};
  linear_attention::check_delta_overlaps(call);
  return problem;
}

std::vector<Key> KdaPrefill::keys() {
  return linear_attention::prefill_keys(describe_fields<Problem>());
}

KdaPrefill::Problem KdaPrefill::parse(const KeyValues& pairs) {
  auto problem = parse_fields<Problem>(kName, pairs);
  linear_attention::complete_prefill(kKind, pairs, problem);
  linear_attention::check_delta(kKind, problem);
  return problem;
}

std::string KdaPrefill::print(const Problem& problem) {
  return print_fields(problem, linear_attention::kAlwaysPrintedOfPrefill,
                      Problem{linear_attention::prefill_defaults(kKind, problem)});
}

Work KdaPrefill::work(const Problem& problem) {
  return linear_attention::prefill_work(kKind, problem);
}

Tolerance KdaPrefill::tolerance(const Problem& problem) {
  return linear_attention::prefill_tolerance(problem);
}

namespace kda_prefill {

void run(const KdaPrefill::Args& args, Stream stream, std::string_view variant) {
  dispatch<KdaPrefill>(args, stream, variant);
}

void prepare(const KdaPrefill::Args& args, Stream stream, std::string_view variant) {
  einkorn::prepare<KdaPrefill>(args, stream, variant);
}

// NOLINTNEXTLINE(readability-identifier-naming): the name that ops/variants.inc expands to
extern const OpDef definition;
constexpr OpDef definition =
    make_op<KdaPrefill>([](const void* args, Stream stream, std::string_view variant) {
      run(*static_cast<const KdaPrefill::Args*>(args), stream, variant);
    });

}  // namespace kda_prefill
}  // namespace einkorn
