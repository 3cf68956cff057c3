#pragma once

// qk_norm: root-mean-square normalisation of each head of q and of k, both at once.
//
//   r     = 1 / sqrt(mean(h^2) + eps)  for each head h of q and of k
//   out   = h * r * (w + offset)       (w: q_weight or k_weight; w + offset = 1 without weights)
//
// Source: Zhang and Sennrich 2019, "Root Mean Square Layer Normalization", eq. 4, of heads as in
// Henry et al. 2020, "Query-Key Normalization for Transformers", and Qwen3. Rounding points are
// those of rms_norm, by the same names; kernels that fuse q and k, as SGLang's, round as gemma
// does. Tensors in f64, all or none, are for numerical derivatives: the reference alone serves
// them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <einkorn/op.h>

#include "ops/norm/rms.h"

namespace einkorn {

struct QkNorm {
  static constexpr std::string_view kName = "qk_norm";
  static constexpr std::string_view kFamily = "norm";
  static constexpr std::string_view kSummary = "rms_norm of each head of q and of k, in one call";

  static constexpr std::int64_t kMaxRows = std::int64_t{1} << 40;
  static constexpr std::int64_t kMaxHeads = 65536;
  static constexpr std::int64_t kMaxCols = 1024;

  using Rounding = rms::Rounding;
  using Layout = RmsNorm::Layout;

  struct Args {
    TensorView q;         ///< [..., q_heads, cols], f32 f16 bf16 f64; leading dims with one stride
    TensorView k;         ///< [..., k_heads, cols], of q's leading dims and dtype
    TensorView q_weight;  ///< [cols], contiguous, f32 f16 bf16 f64; with k_weight or not at all
    TensorView k_weight;  ///< like q_weight
    TensorView q_out;     ///< out, like q; may be exactly q
    TensorView k_out;     ///< out, like k; may be exactly k
    double eps = 1e-6;    ///< > 0 and finite
    int offset = 0;       ///< added to the weights: 0, or 1 (zero-initialised)
    Rounding rounding = Rounding::kLlama;

    static constexpr auto arguments() {
      return std::tuple{
          input("q", &Args::q,
                "[..., q_heads, cols], f32, f16, bf16 or f64; a token's heads without gaps, "
                "leading dims with one stride"),
          input("k", &Args::k, "[..., k_heads, cols], of q's dtype; strides of its own"),
          optional_input("q_weight", &Args::q_weight,
                         "[cols], contiguous, f32, f16, bf16 or f64; with k_weight"),
          optional_input("k_weight", &Args::k_weight, "like q_weight, and with it"),
          output("q_out", &Args::q_out, Like{"q"}, "like q; may be exactly q"),
          output("k_out", &Args::k_out, Like{"k"}, "like k; may be exactly k"),
          scalar("eps", &Args::eps, "positive and finite"),
          scalar("offset", &Args::offset, "added to the weights: 0, or 1 (zero-initialised)"),
          scalar("rounding", &Args::rounding,
                 "where intermediate results are rounded to q's dtype")};
    }
  };

  struct Problem {
    std::int64_t rows = 4096;
    std::int64_t q_heads = 32;
    std::int64_t k_heads = 8;
    std::int64_t cols = 128;
    DType dtype = kBF16;
    std::optional<DType> weight = kBF16;
    int offset = 0;
    Rounding rounding = Rounding::kLlama;
    Layout layout = Layout::kContiguous;
    int align = 16;

    bool operator==(const Problem&) const = default;

    static constexpr auto fields() {
      return std::tuple{
          field("rows", &Problem::rows, "tokens: product of the leading dimensions", 0,
                double{kMaxRows}),
          field("q_heads", &Problem::q_heads, "heads of q", 1, double{kMaxHeads}),
          field("k_heads", &Problem::k_heads, "heads of k", 1, double{kMaxHeads}),
          field("cols", &Problem::cols, "size of a head, which is normalised", 1, double{kMaxCols}),
          field("dtype", &Problem::dtype, "of q, k and the outputs: f32, f16, bf16 or f64"),
          field("weight", &Problem::weight, "dtype of both weights (default: dtype), or none"),
          field("offset", &Problem::offset, "added to the weights", 0, 1),
          field("rounding", &Problem::rounding, "where intermediate results are rounded"),
          field("layout", &Problem::layout, "row_strided: tokens of some tensor have gaps"),
          field("align", &Problem::align,
                "bytes, a power of two, that divide every head's and weight's address", 1, 16)};
    }
  };

  /// Checks every argument and says what the call is. TypeError: missing tensor, one weight of two,
  /// rank, dtype, device. ValueError: sizes, strides, overlap, eps, offset.
  static Problem match(const Args& args);
  static Device device(const Args& args) { return args.q.device(); }

  static std::vector<Key> keys();
  /// Pairs as on the command line, completed (weight follows dtype) and checked.
  static Problem parse(const KeyValues& pairs);
  static std::string print(const Problem& problem);

  /// f64 is for numerical derivatives.
  static std::optional<Refusal> for_reference_only(const Problem& problem);
  static Work work(const Problem& problem);
  static Tolerance tolerance(const Problem& problem);
  /// Inputs of any accepted dtype; outputs of the contract's dtypes or f64, which keeps the last
  /// rounding out of a comparison. CPU only.
  static void reference(const Args& args);
  static std::span<const Case> cases();
  static Inputs<Args> make_inputs(const Problem& problem, Rng& rng);
};

namespace qk_norm {

/// A tensor of heads as tokens, [rows, heads * cols]; its leading dimensions are known to have one
/// stride, which with at most one token is not looked at.
TensorView tokens_of(const TensorView& tensor, std::int64_t rows);

/// Normalises q and k into the outputs on `stream`. `variant` names one ("smxx/rows_v1"); empty:
/// the best that serves. Nothing is written when an argument is refused.
void run(const QkNorm::Args& args, Stream stream, std::string_view variant = {});

/// Selects, compiles and loads what run() would use, so that run() can be captured in a graph.
void prepare(const QkNorm::Args& args, Stream stream, std::string_view variant = {});

}  // namespace qk_norm
}  // namespace einkorn
