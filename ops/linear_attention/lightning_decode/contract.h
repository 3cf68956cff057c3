#pragma once

// lightning_decode: lightning attention of one to a few new tokens of many sequences, in place in a
// pool of states.
//
//   S     <- d S + k v              d: the decay of the head, from `decay` by `gate`
//   o     = scale q^T S
//
// for each token in turn, S [K, V] of each value head; value head h goes with head
// h / (value_heads / heads) of q and k. Everything between the tensors and the state that is stored
// is meant unrounded: a state in bf16 is rounded when it is stored, not from token to token.
//
// state_indices [seqs]: the row of the pool that a sequence's state is read from and, after its
// last token, written to; left out: row n for sequence n. state_indices [seqs, tokens], for
// speculative decoding: the state after token t goes to row state_indices[n][t], and the call goes
// on from row state_indices[n][a - 1], a = accepted[n], or from state_indices[n][0] without
// `accepted`. An index outside of the pool is no row, so -1 is: a sequence whose first row is none,
// or whose accepted count is not one of 1 to tokens, is left alone, its states and its rows of o
// keep what they hold; a state whose own row alone is none is not stored. Rows that two sequences
// of a call share, and that one of them writes, end up with either's state.
//
// Source: Qin et al. 2024, "Lightning Attention-2: A Free Lunch for Handling Unlimited Sequence
// Lengths in Large Language Models", eq. 6; a decay of each head as MiniMax-01 has it.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <einkorn/op.h>

#include "ops/linear_attention/decode.h"

namespace einkorn {

struct LightningDecode {
  static constexpr std::string_view kName = "lightning_decode";
  static constexpr std::string_view kFamily = "linear_attention";
  static constexpr std::string_view kSummary =
      "lightning attention of a few tokens a sequence, states of a pool updated in place";
  static constexpr auto kUpdate = linear_attention::Update::kDecay;

  using Gate = linear_attention::Gate;
  using StateLayout = linear_attention::StateLayout;

  struct Args {
    TensorView q;              ///< [seqs, tokens, heads, key_dim], f32 f16 bf16
    TensorView k;              ///< like q, strides of its own
    TensorView v;              ///< [seqs, tokens, value_heads, value_dim], of q's dtype
    TensorView decay;          ///< [value_heads], f32
    TensorView state_indices;  ///< [seqs] or [seqs, tokens], i32 i64, contiguous; optional
    TensorView accepted;       ///< [seqs], i32, contiguous; optional, with indices of each token
    TensorView state;          ///< in place, [pool, value_heads, ...] by state_layout, f32 bf16
    TensorView o;              ///< out, like v
    double scale = 0;          ///< of the result; 0: key_dim^-0.5
    Gate gate = Gate::kLog;
    bool l2norm = false;  ///< q and k are divided by sqrt(sum of squares + 1e-6)
    StateLayout state_layout = StateLayout::kVk;

    static constexpr auto arguments() {
      return std::tuple{
          input("q", &Args::q,
                "[seqs, tokens, heads, key_dim], f32, f16 or bf16; heads and tokens with a stride "
                "each"),
          input("k", &Args::k, "like q, with strides of its own"),
          input("v", &Args::v,
                "[seqs, tokens, value_heads, value_dim], of q's dtype; value_heads a multiple of "
                "heads"),
          input("decay", &Args::decay,
                "[value_heads], f32: the decay of each head, in the form that gate says"),
          inout("state", &Args::state,
                "[pool, value_heads, value_dim, key_dim] or, by state_layout, "
                "[pool, value_heads, key_dim, value_dim], f32 or bf16, contiguous"),
          optional_input("state_indices", &Args::state_indices,
                         "[seqs] or, with a row for the state after each token, [seqs, tokens], "
                         "i32 or i64, contiguous: rows of the pool; outside of it: none"),
          optional_input("accepted", &Args::accepted,
                         "[seqs], i32, contiguous: which token's state of state_indices "
                         "[seqs, tokens] the call goes on from, counted from 1"),
          output("o", &Args::o, Like{"v"}, "like v; rows of sequences left alone are not written"),
          scalar("scale", &Args::scale, "of the result; 0: key_dim^-0.5"),
          scalar("gate", &Args::gate, "what decay holds: its log, or the decay itself (factor)"),
          scalar("l2norm", &Args::l2norm,
                 "q and k are divided by sqrt(sum of squares + 1e-6) first"),
          scalar("state_layout", &Args::state_layout, "order of a state's last two dimensions")};
    }
  };

  struct Problem : linear_attention::DecodeProblem {
    bool operator==(const Problem&) const = default;
    static constexpr auto fields() { return decay_fields(); }
  };

  /// Checks every argument and says what the call is. TypeError: missing tensor, rank, dtype,
  /// device. ValueError: sizes, strides, overlap, scalars, an argument that the form does not use.
  static Problem match(const Args& args);
  static Device device(const Args& args) { return args.q.device(); }

  static std::vector<Key> keys();
  /// Pairs as on the command line, completed and checked.
  static Problem parse(const KeyValues& pairs);
  static std::string print(const Problem& problem);

  static Work work(const Problem& problem);
  static Tolerance tolerance(const Problem& problem);
  /// Outputs of the contract's dtypes or f64. CPU only.
  static void reference(const Args& args);
  static std::span<const Case> cases();
  static Inputs<Args> make_inputs(const Problem& problem, Rng& rng);
};

namespace lightning_decode {

/// The arguments as all decode ops have them; they have to outlive what comes back.
linear_attention::DecodeCall call_of(const LightningDecode::Args& args);

/// Decodes on `stream`. `variant` names one ("smxx/rows_v1"); empty: the best that serves. Nothing
/// is written when an argument is refused.
void run(const LightningDecode::Args& args, Stream stream, std::string_view variant = {});

/// Selects, compiles and loads what run() would use, so that run() can be captured in a graph.
void prepare(const LightningDecode::Args& args, Stream stream, std::string_view variant = {});

}  // namespace lightning_decode
}  // namespace einkorn
