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
  DecodeCall call;
  call.op = KdaDecode::kName;
  call.update = KdaDecode::kUpdate;
  call.q = args.q;
  call.k = args.k;
  call.v = args.v;
  call.g = args.g;
  call.beta = args.beta;
  call.a_log = args.a_log;
  call.dt_bias = args.dt_bias;
  call.state_indices = args.state_indices;
  call.accepted = args.accepted;
  call.state = args.state;
  call.o = args.o;
  call.scale = args.scale;
  call.lower_bound = args.lower_bound;
  call.gate = args.gate;
  call.beta_form = args.beta_form;
  call.negative_eigenvalues = args.negative_eigenvalues;
  call.l2norm = args.l2norm;
  call.state_layout = args.state_layout;
  return call;
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
