#pragma once

// lightning_prefill: lightning attention, linear attention with a decay fixed for each head, over
// whole sequences. Each value head has a state S [K, V]:
//
//   S   <- d S + k v                                (k a column, v a row)
//   o    = scale q^T S                              (the state with this token in it)
//
// Source: Qin et al. 2024, "Lightning Attention-2: A Free Lunch for Handling Unlimited Sequence
// Lengths in Large Language Models". Value head i reads head i / (value_heads / heads) of q and k.
// Libraries hand over the decay as its log (fla's g_gamma, below 0), or as that log's negative
// (cuLA's s, above 0), which is the log after a minus sign; `gate` says which of
//
//   gate   | d
//   log    | exp(decay)
//   factor | decay
//
// it is. The scale left out is K^-0.5, as fla's; cuLA's own is 1.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <einkorn/op.h>

#include "ops/linear_attention/prefill.h"

namespace einkorn {

struct LightningPrefill {
  static constexpr std::string_view kName = "lightning_prefill";
  static constexpr std::string_view kFamily = "linear_attention";
  static constexpr std::string_view kSummary =
      "lightning attention over whole sequences: a fixed decay for each head";

  static constexpr linear_attention::PrefillKind kKind{kName, false, false};

  using Gate = linear_attention::Gate;
  using StateLayout = linear_attention::StateLayout;
  using Split = linear_attention::Split;

  struct Args {
    TensorView q;               ///< [batch, tokens, heads, K]
    TensorView k;               ///< like q
    TensorView v;               ///< [batch, tokens, value_heads, V]
    TensorView decay;           ///< [value_heads], f32
    TensorView initial_state;   ///< [sequences, value_heads, K, V] or [..., V, K]; f32 or bf16
    TensorView cu_seqlens;      ///< [sequences + 1], i32 or i64
    TensorView cu_seqlens_cpu;  ///< its numbers on the CPU
    TensorView o;               ///< out, like v
    TensorView final_state;     ///< out, like an initial_state; may be exactly it
    TensorView checkpoints;     ///< out, [stored, value_heads, ...]; f32 or bf16
    double scale = 0;
    Gate gate = Gate::kLog;
    bool l2norm = false;
    StateLayout state_layout = StateLayout::kKv;
    std::int64_t checkpoint_every = 0;
    Split split = Split::kAuto;
    std::int64_t segment = 0;

    static constexpr auto arguments() {
      return std::tuple{
          input("q", &Args::q,
                "[batch, tokens, heads, K], f32, f16 or bf16; K without gaps, batch and tokens "
                "with one stride"),
          input("k", &Args::k, "like q; strides of its own"),
          input("v", &Args::v,
                "[batch, tokens, value_heads, V], of q's dtype; value_heads a multiple of heads"),
          input("decay", &Args::decay, "[value_heads], f32, in the form of gate"),
          optional_input("initial_state", &Args::initial_state,
                         "[sequences, value_heads, K, V], or V, K by state_layout, contiguous, f32 "
                         "or bf16; zeros without it"),
          optional_input("cu_seqlens", &Args::cu_seqlens,
                         "[sequences + 1], i32 or i64: where the sequences packed into one row "
                         "begin, and its end; without it each row is a sequence"),
          optional_input("cu_seqlens_cpu", &Args::cu_seqlens_cpu,
                         "the numbers of cu_seqlens on the CPU, which otherwise are read back from "
                         "the device in each call"),
          output("o", &Args::o, Like{"v"}, "like v"),
          optional_output(
              "final_state", &Args::final_state,
              Like{.tensor = "q",
                   .shape = "((q.shape[0] if cu_seqlens is None else cu_seqlens.shape[0] - 1), "
                            "v.shape[2], q.shape[3], v.shape[3]) if initial_state is None else "
                            "initial_state.shape",
                   .dtype = "f32"},
              "the states after the last tokens, as initial_state; may be exactly it"),
          given_output("checkpoints", &Args::checkpoints,
                       "[stored, value_heads, ...], contiguous, f32 or bf16: the state after every "
                       "checkpoint_every tokens of each sequence, sequences in order"),
          scalar("scale", &Args::scale, "of q; 0: K^-0.5"),
          scalar("gate", &Args::gate, "what decay holds: log or factor"),
          scalar("l2norm", &Args::l2norm, "q and k are divided by sqrt(sum of squares + 1e-6)"),
          scalar("state_layout", &Args::state_layout, "order of a state's last two dimensions"),
          scalar("checkpoint_every", &Args::checkpoint_every,
                 "tokens between checkpoints, a multiple of 64; 0: none"),
          scalar("split", &Args::split,
                 "sequences cut into segments that run side by side: never, where it pays, always"),
          scalar("segment", &Args::segment,
                 "tokens of a segment, a multiple of 64; 0: as many as pay")};
    }
  };

  struct Problem : linear_attention::PrefillProblem {
    bool operator==(const Problem&) const = default;
    static constexpr auto fields() { return decay_fields(); }
  };

  /// TypeError: missing or needless tensor, rank, dtype, device. ValueError: sizes, strides,
  /// bounds, overlap, numbers; NotSplittable among them. cu_seqlens is read behind the work on
  /// `stream`.
  static Problem match(const Args& args, std::optional<Stream> stream = {});
  static Device device(const Args& args) { return args.q.device(); }
  /// The bounds of packed sequences are checked, and the longest is part of the problem.
  static bool reads_elements(const Args& args) { return args.cu_seqlens.defined(); }

  static std::vector<Key> keys();
  /// Pairs as on the command line, completed and checked.
  static Problem parse(const KeyValues& pairs);
  static std::string print(const Problem& problem);

  static Work work(const Problem& problem);
  static Tolerance tolerance(const Problem& problem);
  /// Inputs of any accepted dtype; outputs of the contract's dtypes or f64, which keeps the last
  /// rounding out of a comparison. CPU only.
  static void reference(const Args& args);
  static std::span<const Case> cases();
  static Inputs<Args> make_inputs(const Problem& problem, Rng& rng);
};

namespace lightning_prefill {

/// Runs a call on `stream`. `variant` names one ("cpu/heads_v1"); empty: the best that serves.
/// Nothing is written when an argument is refused.
void run(const LightningPrefill::Args& args, Stream stream, std::string_view variant = {});

/// Selects, compiles and loads what run() would use, so that run() can be captured in a graph.
void prepare(const LightningPrefill::Args& args, Stream stream, std::string_view variant = {});

}  // namespace lightning_prefill
}  // namespace einkorn
