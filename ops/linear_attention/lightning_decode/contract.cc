#include "ops/linear_attention/lightning_decode/contract.h"

#include <einkorn/dispatch.h>

#include "ops/linear_attention/decode_match.h"

namespace einkorn {

using linear_attention::DecodeCall;

LightningDecode::Problem LightningDecode::match(const Args& args) {
  return {linear_attention::match_decay_decode(lightning_decode::call_of(args))};
}

std::vector<Key> LightningDecode::keys() {
  return linear_attention::decode_keys(describe_fields<Problem>());
}

LightningDecode::Problem LightningDecode::parse(const KeyValues& pairs) {
  auto problem = parse_fields<Problem>(kName, pairs);
  linear_attention::complete_decay_decode(kName, pairs, problem);
  return problem;
}

std::string LightningDecode::print(const Problem& problem) {
  return print_fields(problem, linear_attention::kAlwaysPrintedOfDecode,
                      Problem{linear_attention::decode_defaults(kUpdate, problem)});
}

Work LightningDecode::work(const Problem& problem) {
  return linear_attention::decode_work(kUpdate, problem);
}

Tolerance LightningDecode::tolerance(const Problem& problem) {
  return linear_attention::decode_tolerance(problem);
}

namespace lightning_decode {

DecodeCall call_of(const LightningDecode::Args& args) {
  return {LightningDecode::kName, LightningDecode::kUpdate, args};
}

void run(const LightningDecode::Args& args, Stream stream, std::string_view variant) {
  dispatch<LightningDecode>(args, stream, variant);
}

void prepare(const LightningDecode::Args& args, Stream stream, std::string_view variant) {
  einkorn::prepare<LightningDecode>(args, stream, variant);
}

// NOLINTNEXTLINE(readability-identifier-naming): the name that ops/variants.inc expands to
extern const OpDef definition;
constexpr OpDef definition =
    make_op<LightningDecode>([](const void* args, Stream stream, std::string_view variant) {
      run(*static_cast<const LightningDecode::Args*>(args), stream, variant);
    });

}  // namespace lightning_decode
}  // namespace einkorn
