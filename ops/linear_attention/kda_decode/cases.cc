// The cases of kda_decode and the tensors that stand for them.

#include "ops/linear_attention/kda_decode/contract.h"

namespace einkorn {

std::span<const Case> KdaDecode::cases() {
#define EK_CASE(name, level, keys) {#name, level, keys},
  static constexpr Case kCases[] = {
#include "ops/linear_attention/kda_decode/cases.inc"
  };
#undef EK_CASE
  return kCases;
}

Inputs<KdaDecode::Args> KdaDecode::make_inputs(const Problem& problem, Rng& rng) {
  Inputs<Args> inputs;
  linear_attention::DecodeCall call;
  call.op = kName;
  call.update = kUpdate;
  linear_attention::make_decode_inputs(problem, call, inputs.storage, rng);
  Args& args = inputs.args;
  args.q = call.q;
  args.k = call.k;
  args.v = call.v;
  args.g = call.g;
  args.beta = call.beta;
  args.a_log = call.a_log;
  args.dt_bias = call.dt_bias;
  args.state_indices = call.state_indices;
  args.accepted = call.accepted;
  args.state = call.state;
  args.o = call.o;
  args.scale = call.scale;
  args.lower_bound = call.lower_bound;
  args.gate = call.gate;
  args.beta_form = call.beta_form;
  args.negative_eigenvalues = call.negative_eigenvalues;
  args.l2norm = call.l2norm;
  args.state_layout = call.state_layout;
  return inputs;
}

}  // namespace einkorn
