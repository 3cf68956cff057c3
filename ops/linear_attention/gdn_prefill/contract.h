#pragma once

// gdn_prefill: the gated delta rule over whole sequences. Each value head has a state S [K, V],
// which a token first lets fade and then corrects towards its value:
//
//   S   <- d S                                      (d, one number, from g by the form of the gate)
//   S   <- S + k u,   u = beta (v - k^T S)          (k a column, u a row)
//   o    = scale q^T S                              (the state with this token in it)
//
// Source: Yang, Kautz and Hatamizadeh 2024, "Gated Delta Networks: Improving Mamba2 with Delta
// Rule". It is kda_prefill with one decay for all channels of a head; its g may be far below what a
// bounded gate gives. Value head i reads head i / (value_heads / heads) of q and k. What libraries
// take silently in one of several forms is named here: the gate (`gate`), beta (`beta_form`,
// `negative_eigenvalues`), the order of a state's dimensions (`state_layout`). An argument that the
// call's form does not use is refused.
//
//   gate        | d
//   log         | exp(g)
//   softplus    | exp(-exp(a_log) softplus(g + dt_bias))
//   lower_bound | exp(lower_bound sigmoid(exp(a_log) (g + dt_bias)))
//   factor      | g

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

struct GdnPrefill {
  static constexpr std::string_view kName = "gdn_prefill";
  static constexpr std::string_view kFamily = "linear_attention";
  static constexpr std::string_view kSummary =
      "gated delta rule over whole sequences: a decay for each head";

  static constexpr linear_attention::PrefillKind kKind{kName, true, false};

  using Gate = linear_attention::Gate;
  using Beta = linear_attention::Beta;
  using StateLayout = linear_attention::StateLayout;
  using Split = linear_attention::Split;

  struct Args {
    TensorView q;               ///< [batch, tokens, heads, K]
    TensorView k;               ///< like q
    TensorView v;               ///< [batch, tokens, value_heads, V]
    TensorView g;               ///< [batch, tokens, value_heads]; f32, f16 or bf16
    TensorView beta;            ///< [batch, tokens, value_heads]; f32, f16 or bf16
    TensorView a_log;           ///< [value_heads], f32; with the raw gates
    TensorView dt_bias;         ///< [value_heads], f32; with the raw gates
    TensorView initial_state;   ///< [sequences, value_heads, K, V] or [..., V, K]; f32 or bf16
    TensorView cu_seqlens;      ///< [sequences + 1], i32 or i64
    TensorView cu_seqlens_cpu;  ///< its numbers on the CPU
    TensorView o;               ///< out, like v
    TensorView final_state;     ///< out, like an initial_state; may be exactly it
    TensorView checkpoints;     ///< out, [stored, value_heads, ...]; f32 or bf16
    double scale = 0;
    double lower_bound = -5;
    Gate gate = Gate::kLog;
    Beta beta_form = Beta::kProbability;
    bool negative_eigenvalues = false;
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
          input("g", &Args::g,
                "[batch, tokens, value_heads], f32, f16 or bf16: the gate, in the form of gate"),
          input("beta", &Args::beta,
                "[batch, tokens, value_heads], f32, f16 or bf16, in the form of beta_form"),
          optional_input("a_log", &Args::a_log,
                         "[value_heads], f32: log of the gate's rate; softplus needs it, "
                         "lower_bound takes 0 without it, other gates refuse it"),
          optional_input("dt_bias", &Args::dt_bias,
                         "[value_heads], f32: added to a raw gate; other gates refuse it"),
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
          scalar("lower_bound", &Args::lower_bound, "of gate lower_bound: at least -5, below 0"),
          scalar("gate", &Args::gate, "what g holds"),
          scalar("beta_form", &Args::beta_form, "what beta holds: itself, or before a sigmoid"),
          scalar("negative_eigenvalues", &Args::negative_eigenvalues, "beta is doubled"),
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
    static constexpr auto fields() { return delta_fields(); }
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

namespace gdn_prefill {

/// Runs a call on `stream`. `variant` names one ("cpu/heads_v1"); empty: the best that serves.
/// Nothing is written when an argument is refused.
void run(const GdnPrefill::Args& args, Stream stream, std::string_view variant = {});

/// Selects, compiles and loads what run() would use, so that run() can be captured in a graph.
void prepare(const GdnPrefill::Args& args, Stream stream, std::string_view variant = {});

}  // namespace gdn_prefill
}  // namespace einkorn
