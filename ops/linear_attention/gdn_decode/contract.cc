#include "ops/linear_attention/gdn_decode/contract.h"

#include <einkorn/dispatch.h>

#include "ops/linear_attention/decode_match.h"

namespace einkorn {

using linear_attention::DecodeCall;

GdnDecode::Problem GdnDecode::match(const Args& args) {
  return {linear_attention::match_delta_decode(gdn_decode::call_of(args))};
}

std::vector<Key> GdnDecode::keys() {
  return linear_attention::decode_keys(describe_fields<Problem>());
}

GdnDecode::Problem GdnDecode::parse(const KeyValues& pairs) {
  auto problem = parse_fields<Problem>(kName, pairs);
  linear_attention::complete_delta_decode(kName, kUpdate, pairs, problem);
  return problem;
}

std::string GdnDecode::print(const Problem& problem) {
  return print_fields(problem, linear_attention::kAlwaysPrintedOfDecode,
                      Problem{linear_attention::decode_defaults(kUpdate, problem)});
}

Work GdnDecode::work(const Problem& problem) {
  return linear_attention::decode_work(kUpdate, problem);
}

Tolerance GdnDecode::tolerance(const Problem& problem) {
  return linear_attention::decode_tolerance(problem);
}

namespace gdn_decode {

DecodeCall call_of(const GdnDecode::Args& args) {
  return {GdnDecode::kName, GdnDecode::kUpdate, args};
}

void run(const GdnDecode::Args& args, Stream stream, std::string_view variant) {
  dispatch<GdnDecode>(args, stream, variant);
}

void prepare(const GdnDecode::Args& args, Stream stream, std::string_view variant) {
  einkorn::prepare<GdnDecode>(args, stream, variant);
}

// NOLINTNEXTLINE(readability-identifier-naming): the name that ops/variants.inc expands to
extern const OpDef definition;
constexpr OpDef definition =
    make_op<GdnDecode>([](const void* args, Stream stream, std::string_view variant) {
      run(*static_cast<const GdnDecode::Args*>(args), stream, variant);
    });

}  // namespace gdn_decode
}  // namespace einkorn
