#pragma once

// What the decode ops share: one to a few tokens of many sequences, whose states lie in a pool and
// are updated in place. The ops differ in the rule of the update alone; each has its own arguments,
// and hands them on as a DecodeCall.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <einkorn/op.h>

#include "ops/linear_attention/call.h"
#include "ops/linear_attention/forms.h"

namespace einkorn::linear_attention {

inline constexpr std::int64_t kMaxDecodeTokens = 1024;
inline constexpr std::int64_t kMaxDecodeSeqs = std::int64_t{1} << 31;
inline constexpr std::int64_t kMaxDecodePool = std::int64_t{1} << 40;

/// The arguments of a call, whichever op it is of, which have to outlive it.
struct DecodeCall : CallArguments {
  template <class Args>
  DecodeCall(std::string_view name, Update rule, const Args& args)
      : CallArguments(name, args),
        update(rule),
        state_indices(args.state_indices),
        accepted(args.accepted),
        state(args.state) {}

  Update update;
  const TensorView& state_indices;
  const TensorView& accepted;
  const TensorView& state;
};

/// The problem of every decode op; the fields that an op does not have keep their defaults. How
/// many states the pool has makes no difference to a plan.
struct DecodeProblem {
  std::int64_t seqs = 64;
  std::int64_t tokens = 1;
  std::int64_t heads = 32;
  std::int64_t value_heads = 32;
  std::int64_t key_dim = 128;
  std::int64_t value_dim = 128;
  DType dtype = kBF16;
  DType gate_dtype = kBF16;
  DType beta_dtype = kBF16;
  Gate gate = Gate::kLog;
  Beta beta_form = Beta::kProbability;
  bool negative_eigenvalues = false;
  bool l2norm = false;
  bool a_log = false;
  bool dt_bias = false;
  DType state_dtype = kF32;
  StateLayout state_layout = StateLayout::kVk;
  std::optional<DType> indices = std::nullopt;
  bool per_token = false;
  bool accepted = false;
  int align = 16;

  bool operator==(const DecodeProblem&) const = default;

  /// Sizes first: the seven that print() always says.
  static constexpr auto shape_fields() {
    using P = DecodeProblem;
    constexpr auto kHeads = static_cast<double>(kMaxHeads);
    constexpr auto kDim = static_cast<double>(kMaxHeadDim);
    return std::tuple{
        field("seqs", &P::seqs, "sequences", 0, double{kMaxDecodeSeqs}),
        field("tokens", &P::tokens, "of each sequence", 1, double{kMaxDecodeTokens}),
        field("heads", &P::heads, "of q and k", 1, kHeads),
        field("value_heads", &P::value_heads, "of v; a multiple of heads (default: heads)", 1,
              kHeads),
        field("key_dim", &P::key_dim, "size of a head of q and k", 1, kDim),
        field("value_dim", &P::value_dim, "size of a head of v (default: key_dim)", 1, kDim),
        field("dtype", &P::dtype, "of q, k, v and o: f32, f16 or bf16")};
  }
  static constexpr auto pool_fields() {
    using P = DecodeProblem;
    return std::tuple{
        field("state_dtype", &P::state_dtype, "of the pool: f32 or bf16"),
        field("state_layout", &P::state_layout, "order of a state's two dimensions"),
        field("indices", &P::indices, "dtype of state_indices, i32 or i64, or none"),
        field("per_token", &P::per_token, "state_indices has a place for each token's state"),
        field("accepted", &P::accepted, "accepted is given"),
        field("align", &P::align,
              "bytes, a power of two, that divide the address of every head and state", 1, 16)};
  }
  static constexpr auto delta_fields() {
    using P = DecodeProblem;
    return std::tuple_cat(
        shape_fields(),
        std::tuple{
            field("gate_dtype", &P::gate_dtype, "of g: f32, f16 or bf16 (default: dtype)"),
            field("beta_dtype", &P::beta_dtype, "of beta: f32, f16 or bf16 (default: dtype)"),
            field("gate", &P::gate, "what g holds"),
            field("beta_form", &P::beta_form, "what beta holds"),
            field("negative_eigenvalues", &P::negative_eigenvalues, "beta is doubled"),
            field("l2norm", &P::l2norm, "q and k are normalised first"),
            field("a_log", &P::a_log, "a_log is given (default: where the gate needs it)"),
            field("dt_bias", &P::dt_bias, "dt_bias is given")},
        pool_fields());
  }
  static constexpr auto decay_fields() {
    using P = DecodeProblem;
    return std::tuple_cat(shape_fields(),
                          std::tuple{field("gate", &P::gate, "what decay holds: log or factor"),
                                     field("l2norm", &P::l2norm, "q and k are normalised first")},
                          pool_fields());
  }
};

/// The fields that print() says whatever they are.
inline constexpr std::size_t kAlwaysPrintedOfDecode = 7;

/// Completes and checks a parsed problem of a delta rule. ValueError.
void complete_delta_decode(std::string_view op, Update update, const KeyValues& pairs,
                           DecodeProblem& problem);
/// The same with a decay alone.
void complete_decay_decode(std::string_view op, const KeyValues& pairs, DecodeProblem& problem);

/// What completing gives where only the fields that print() always says are given.
DecodeProblem decode_defaults(Update update, const DecodeProblem& problem);

/// The fields of describe_fields() with the dtypes that each may have.
std::vector<Key> decode_keys(std::vector<Key> keys);

Work decode_work(Update update, const DecodeProblem& problem);

/// Relative root mean square, of all outputs.
Tolerance decode_tolerance(const DecodeProblem& problem);

/// Tensors for a problem on the CPU, by name.
struct DecodeTensors {
  TensorView q, k, v, g, beta, decay, a_log, dt_bias, state_indices, accepted, state, o;
};
DecodeTensors make_decode_tensors(Update update, const DecodeProblem& problem,
                                  std::vector<Tensor>& storage, Rng& rng);

/// Arguments for a problem: make_inputs of every op.
template <class C>
Inputs<typename C::Args> make_decode_inputs(const DecodeProblem& problem, Rng& rng) {
  Inputs<typename C::Args> inputs;
  auto& args = inputs.args;
  const DecodeTensors made = make_decode_tensors(C::kUpdate, problem, inputs.storage, rng);
  args.q = made.q;
  args.k = made.k;
  args.v = made.v;
  if constexpr (requires { args.beta; }) {
    args.g = made.g;
    args.beta = made.beta;
    args.a_log = made.a_log;
    args.dt_bias = made.dt_bias;
    args.beta_form = problem.beta_form;
    args.negative_eigenvalues = problem.negative_eigenvalues;
  } else {
    args.decay = made.decay;
  }
  args.state_indices = made.state_indices;
  args.accepted = made.accepted;
  args.state = made.state;
  args.o = made.o;
  args.gate = problem.gate;
  args.l2norm = problem.l2norm;
  args.state_layout = problem.state_layout;
  return inputs;
}

/// The recurrence in double. Outputs of the contract's dtypes or f64; the CPU only.
void decode_reference(const DecodeCall& call);

}  // namespace einkorn::linear_attention
