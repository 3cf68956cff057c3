#include "ops/linear_attention/kda_decode/contract.h"

#include <einkorn/dispatch.h>

#include "ops/linear_attention/decode_match.h"

namespace einkorn {

using linear_attention::DecodeCall;

KdaDecode::Problem KdaDecode::match(const Args& args) {
  return {linear_attention::match_delta_decode(kda_decode::call_of(args))};
}

std::vector<Key> KdaDecode::keys() {
  return linear_attention::decode_keys(describe_fields<Problem>());
}

KdaDecode::Problem KdaDecode::parse(const KeyValues& pairs) {
  auto problem = parse_fields<Problem>(kName, pairs);
  linear_attention::complete_delta_decode(kName, kUpdate, pairs, problem);
  return problem;
}

std::string KdaDecode::print(const Problem& problem) {
  return print_fields(problem, linear_attention::kAlwaysPrintedOfDecode,
                      Problem{linear_attention::decode_defaults(kUpdate, problem)});
}

Work KdaDecode::work(const Problem& problem) {
  return linear_attention::decode_work(kUpdate, problem);
}

Tolerance KdaDecode::tolerance(const Problem& problem) {
  return linear_attention::decode_tolerance(problem);
}

namespace kda_decode {

DecodeCall call_of(const KdaDecode::Args& args) {
  return {KdaDecode::kName, KdaDecode::kUpdate, args};
}

void run(const KdaDecode::Args& args, Stream stream, std::string_view variant) {
  dispatch<KdaDecode>(args, stream, variant);
}

void prepare(const KdaDecode::Args& args, Stream stream, std::string_view variant) {
  einkorn::prepare<KdaDecode>(args, stream, variant);
}

// NOLINTNEXTLINE(readability-identifier-naming): the name that ops/variants.inc expands to
extern const OpDef definition;
constexpr OpDef definition =
    make_op<KdaDecode>([](const void* args, Stream stream, std::string_view variant) {
      run(*static_cast<const KdaDecode::Args*>(args), stream, variant);
    });

}  // namespace kda_decode
}  // namespace einkorn
