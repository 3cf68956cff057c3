#include "ops/linear_attention/gdn_prefill/contract.h"

#include <einkorn/dispatch.h>

#include "ops/linear_attention/delta_prefill.h"

namespace einkorn {

GdnPrefill::Problem GdnPrefill::match(const Args& args, std::optional<Stream> stream) {
  const auto call = linear_attention::prefill_call<GdnPrefill>(args, stream);
  linear_attention::PrefillNames names;
  linear_attention::match_prefill_inputs(call, names);
  linear_attention::match_delta(call, names);
  Problem problem{linear_attention::match_prefill(call, names)};
  linear_attention::check_delta_overlaps(call);
  return problem;
}

std::vector<Key> GdnPrefill::keys() {
  return linear_attention::prefill_keys(describe_fields<Problem>());
}

GdnPrefill::Problem GdnPrefill::parse(const KeyValues& pairs) {
  auto problem = parse_fields<Problem>(kName, pairs);
  linear_attention::complete_prefill(kKind, pairs, problem);
  linear_attention::check_delta(kKind, problem);
  return problem;
}

std::string GdnPrefill::print(const Problem& problem) {
  return print_fields(problem, linear_attention::kAlwaysPrintedOfPrefill,
                      Problem{linear_attention::prefill_defaults(kKind, problem)});
}

Work GdnPrefill::work(const Problem& problem) {
  return linear_attention::prefill_work(kKind, problem);
}

Tolerance GdnPrefill::tolerance(const Problem& problem) {
  return linear_attention::prefill_tolerance(problem);
}

namespace gdn_prefill {

void run(const GdnPrefill::Args& args, Stream stream, std::string_view variant) {
  dispatch<GdnPrefill>(args, stream, variant);
}

void prepare(const GdnPrefill::Args& args, Stream stream, std::string_view variant) {
  einkorn::prepare<GdnPrefill>(args, stream, variant);
}

// NOLINTNEXTLINE(readability-identifier-naming): the name that ops/variants.inc expands to
extern const OpDef definition;
constexpr OpDef definition =
    make_op<GdnPrefill>([](const void* args, Stream stream, std::string_view variant) {
      run(*static_cast<const GdnPrefill::Args*>(args), stream, variant);
    });

}  // namespace gdn_prefill
}  // namespace einkorn
