#pragma once

// What the prefill ops share: whole sequences at once, each value head with a state of its own. The
// ops differ in the decay (a number for each channel, for each head, or fixed) and in whether the
// delta rule is applied; each has arguments of its own, and hands them on as a PrefillCall.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <einkorn/op.h>

#include "ops/linear_attention/call.h"
#include "ops/linear_attention/forms.h"
#include "ops/linear_attention/layout.h"
#include "ops/linear_attention/sequences.h"
#include "ops/linear_attention/split.h"

namespace einkorn::linear_attention {

inline constexpr std::int64_t kMaxPrefillBatch = 65536;
inline constexpr std::int64_t kMaxPrefillTokens = (std::int64_t{1} << 31) - 1;  ///< of a row
inline constexpr std::int64_t kMaxPrefillSeqs = std::int64_t{1} << 20;

/// What of an op's definition its problems depend on.
struct PrefillKind {
  std::string_view op;
  bool delta = true;         ///< the delta rule is applied: there are beta and g
  bool channel_gate = true;  ///< g has a number for each channel
};

/// The arguments of a call, whichever op it is of, which have to outlive it.
struct PrefillCall : CallArguments {
  template <class Args>
  PrefillCall(const PrefillKind& kind, const Args& args, std::optional<Stream> on)
      : CallArguments(kind.op, args),
        initial_state(args.initial_state),
        cu_seqlens(args.cu_seqlens),
        cu_seqlens_cpu(args.cu_seqlens_cpu),
        final_state(args.final_state),
        checkpoints(args.checkpoints),
        checkpoint_every(args.checkpoint_every),
        split(args.split),
        segment(args.segment),
        delta(kind.delta),
        channel_gate(kind.channel_gate),
        stream(on) {}

  const TensorView& initial_state;
  const TensorView& cu_seqlens;
  const TensorView& cu_seqlens_cpu;
  const TensorView& final_state;
  const TensorView& checkpoints;
  std::int64_t checkpoint_every;
  Split split;
  std::int64_t segment;
  bool delta;
  bool channel_gate;
  std::optional<Stream> stream;  ///< of the call, where known

  // Of matched arguments.
  std::int64_t batch() const { return q.size(0); }
  std::int64_t tokens() const { return q.size(1); }
  /// Those of cu_seqlens, which is on the CPU or has its numbers there, or the batch's rows.
  Sequences sequences() const;
  /// Where the states of one of the three tensors of states are.
  States states(const TensorView& tensor) const;
};

/// The arguments of op C as a call.
template <class C>
PrefillCall prefill_call(const typename C::Args& args, std::optional<Stream> stream = {}) {
  return {C::kKind, args, stream};
}
/// A temporary would be gone before the call is used.
template <class C>
PrefillCall prefill_call(const typename C::Args&& args, std::optional<Stream> stream = {}) = delete;

/// The problem of every prefill op; the fields that an op does not have keep their defaults.
struct PrefillProblem {
  std::int64_t batch = 1;
  std::int64_t tokens = 4096;
  std::int64_t heads = 16;
  std::int64_t value_heads = 16;
  std::int64_t key_dim = 128;
  std::int64_t value_dim = 128;
  DType dtype = kBF16;
  std::int64_t seqs = 0;
  std::int64_t longest = 4096;
  DType gate_dtype = kBF16;
  DType beta_dtype = kBF16;
  Gate gate = Gate::kLog;
  Beta beta_form = Beta::kProbability;
  bool negative_eigenvalues = false;
  bool l2norm = false;
  bool a_log = false;
  bool dt_bias = false;
  std::optional<DType> initial_state = {};
  std::optional<DType> final_state = kF32;
  StateLayout state_layout = StateLayout::kKv;
  std::int64_t checkpoint_every = 0;
  std::optional<DType> checkpoints = {};
  std::int64_t segment = 0;
  int align = 16;

  bool operator==(const PrefillProblem&) const = default;

  /// One state each.
  std::int64_t sequences() const { return seqs > 0 ? seqs : batch; }
  /// Nothing is to be written.
  bool empty() const { return batch * tokens == 0 && !final_state; }

  /// Sizes first: the seven that print() always says.
  static constexpr auto shape_fields() {
    using P = PrefillProblem;
    constexpr auto kHeads = static_cast<double>(kMaxHeads);
    constexpr auto kDim = static_cast<double>(kMaxHeadDim);
    constexpr auto kTokens = static_cast<double>(kMaxPrefillTokens);
    return std::tuple{
        field("batch", &P::batch, "rows of the batch", 1, double{kMaxPrefillBatch}),
        field("tokens", &P::tokens, "of a row, all its sequences together", 0, kTokens),
        field("heads", &P::heads, "of q and k", 1, kHeads),
        field("value_heads", &P::value_heads, "of v; a multiple of heads (default: heads)", 1,
              kHeads),
        field("key_dim", &P::key_dim, "size of a head of q and k", 1, kDim),
        field("value_dim", &P::value_dim, "size of a head of v (default: key_dim)", 1, kDim),
        field("dtype", &P::dtype, "of q, k, v and o: f32, f16 or bf16"),
        field("seqs", &P::seqs, "sequences packed into the one row; 0: each row is one", 0,
              double{kMaxPrefillSeqs}),
        field("longest", &P::longest,
              "tokens of the longest sequence (default: tokens, or twice the mean of several)", 0,
              kTokens)};
  }
  static constexpr auto state_fields() {
    using P = PrefillProblem;
    constexpr auto kTokens = static_cast<double>(kMaxPrefillTokens);
    return std::tuple{
        field("initial_state", &P::initial_state, "dtype of it, or none: zeros"),
        field("final_state", &P::final_state, "dtype of it, or none: not written"),
        field("state_layout", &P::state_layout, "order of a state's two dimensions"),
        field("checkpoint_every", &P::checkpoint_every, "tokens between stored states; 0: none", 0,
              kTokens),
        field("checkpoints", &P::checkpoints,
              "dtype of stored states (default: f32 where there are any)"),
        field("segment", &P::segment, "tokens after which sequences are cut; 0: they are not", 0,
              kTokens),
        field("align", &P::align,
              "bytes, a power of two, that divide the address of every head of q, k, v and o, of a "
              "gate by channels, and of every state",
              1, 16)};
  }
  static constexpr auto delta_fields() {
    using P = PrefillProblem;
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
        state_fields());
  }
  static constexpr auto decay_fields() {
    using P = PrefillProblem;
    return std::tuple_cat(shape_fields(),
                          std::tuple{field("gate", &P::gate, "what decay holds: log or factor"),
                                     field("l2norm", &P::l2norm, "q and k are normalised first")},
                          state_fields());
  }
};

/// The fields that print() says whatever they are.
inline constexpr std::size_t kAlwaysPrintedOfPrefill = 7;

/// Completes and checks a problem parsed from pairs. ValueError.
void complete_prefill(const PrefillKind& kind, const KeyValues& pairs, PrefillProblem& problem);

/// ValueError unless f32, f16 or bf16.
void check_prefill_float(const PrefillKind& kind, std::string_view key, DType dtype);

/// What complete_prefill() gives where only the fields that print() always says, and those that
/// others follow from, are given.
PrefillProblem prefill_defaults(const PrefillKind& kind, const PrefillProblem& problem);

/// The fields of describe_fields() with the dtypes and steps that each may have.
std::vector<Key> prefill_keys(std::vector<Key> keys);

/// The largest alignment that gapless tensors of the problem can have, bytes.
int largest_prefill_align(const PrefillKind& kind, const PrefillProblem& problem);

Work prefill_work(const PrefillKind& kind, const PrefillProblem& problem);

/// Relative root mean square, of all outputs.
Tolerance prefill_tolerance(const PrefillProblem& problem);

/// Tensors for a problem on the CPU, by name.
struct PrefillTensors {
  TensorView q, k, v, g, beta, decay, a_log, dt_bias, initial_state, cu_seqlens, o, final_state,
      checkpoints;
};
PrefillTensors make_prefill_tensors(const PrefillKind& kind, const PrefillProblem& problem,
                                    std::vector<Tensor>& storage, Rng& rng);

/// Arguments for a problem: make_inputs of every op.
template <class C>
Inputs<typename C::Args> make_prefill_inputs(const PrefillKind& kind, const PrefillProblem& problem,
                                             Rng& rng) {
  Inputs<typename C::Args> inputs;
  auto& args = inputs.args;
  const PrefillTensors made = make_prefill_tensors(kind, problem, inputs.storage, rng);
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
  args.initial_state = made.initial_state;
  args.cu_seqlens = made.cu_seqlens;
  args.o = made.o;
  args.final_state = made.final_state;
  args.checkpoints = made.checkpoints;
  args.gate = problem.gate;
  args.l2norm = problem.l2norm;
  args.state_layout = problem.state_layout;
  args.checkpoint_every = problem.checkpoint_every;
  // The problem has decided: a call with its arguments must come to the same.
  args.split = problem.segment > 0 ? Split::kForce : Split::kOff;
  args.segment = problem.segment;
  return inputs;
}

}  // namespace einkorn::linear_attention
