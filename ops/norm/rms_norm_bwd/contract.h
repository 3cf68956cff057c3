#pragma once

// rms_norm_bwd: the gradients of rms_norm. With h what was normalised (x + residual when there was
// one), s = w + offset (1 without a weight), N = cols and everything of one row:
//
//   r       = 1 / sqrt(mean(h^2) + eps)               rms_norm: y = x^ * s, x^ = h * r
//   m       = dy * s                                  the gradient of x^
//   dx      = r * (m - h * r * mean(m * h * r))       the gradient of h; of x and residual alike
//             + dresidual_out                         what reaches h by the residual stream
//   dweight = sum over rows of dy * x^
//
// Source: dr/dh_j = -r^3 h_j / N, so dx_j = r m_j - (r^3 h_j / N) sum_i m_i h_i; the same as Liger
// Kernel's rms_norm backward (src/liger_kernel/ops/rms_norm.py).
//
// Rounding. rms_norm is a product of two factors, some of which it rounds; the gradient of each
// takes the other as the forward had it, so for x's dtype T:
//
//   rounding | s in m                | x^ in dweight
//   llama    | w + offset in f32     | h * r, rounded to T
//   gemma    | w + offset in f32     | h * r in f32
//   none     | w + offset, to T      | h * (r rounded to T), rounded to T
//
// How x^ follows from h is differentiated without its roundings, which are steps: dx has r and h *
// r unrounded in all modes. Everything is f32 or wider; dx and dweight are rounded once, at the
// end.
//
// dweight is deterministic: rows are added in an order that problem, variant, tiling and device
// decide, never the scheduling; no variant uses atomics, or an order that depends on the number of
// threads. The order, and with it the last bits, may differ between devices.
//
// Tensors in f64, all or none, are for numerical derivatives: the reference alone serves them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <einkorn/op.h>

#include "ops/norm/rms_norm/contract.h"

namespace einkorn {

struct RmsNormBwd {
  static constexpr std::string_view kName = "rms_norm_bwd";
  static constexpr std::string_view kFamily = "norm";
  static constexpr std::string_view kSummary =
      "gradients of rms_norm: dx, with that of the residual stream added, and dweight";

  static constexpr std::int64_t kMaxRows = RmsNorm::kMaxRows;
  static constexpr std::int64_t kMaxCols = RmsNorm::kMaxCols;

  using Rounding = RmsNorm::Rounding;
  using Layout = RmsNorm::Layout;

  struct Args {
    TensorView dy;      ///< [..., cols], x's dtype; leading dims with one row stride
    TensorView x;       ///< like dy, f32 f16 bf16 f64: what was normalised, h
    TensorView weight;  ///< [cols], contiguous, f32 f16 bf16 f64; optional, as in the forward
    TensorView rstd;  ///< [...] contiguous f32 (f64 with f64): r of each row; optional, else from x
    TensorView dresidual_out;  ///< like x, any of the dtypes; optional
    TensorView dx;             ///< out, like x and of its dtype; may be exactly dy or dresidual_out
    TensorView
        dweight;  ///< out, [cols] contiguous, f32 or the weight's dtype; needs weight; optional
    double eps = 1e-6;  ///< > 0 and finite; not used with rstd
    int offset = 0;     ///< added to the weight: 0 (llama), 1 (gemma, zero-initialised)
    Rounding rounding = Rounding::kLlama;

    static constexpr auto arguments() {
      return std::tuple{
          input("dy", &Args::dy, "[..., cols], of x's dtype; leading dims with one row stride"),
          input(
              "x", &Args::x,
              "like dy, f32, f16, bf16 or f64: what was normalised, x + residual if there was one"),
          optional_input("weight", &Args::weight, "[cols], contiguous, f32, f16, bf16 or f64"),
          optional_input(
              "rstd", &Args::rstd,
              "[...], contiguous, f32 or f64: as the forward wrote it; computed without"),
          optional_input(
              "dresidual_out", &Args::dresidual_out,
              "like x, f32, f16, bf16 or f64: the gradient of residual_out, added to dx"),
          output("dx", &Args::dx, Like{"x"},
                 "like x and of its dtype; may be exactly dy or dresidual_out"),
          optional_output("dweight", &Args::dweight, Like{"weight"},
                          "[cols], contiguous, f32 or the weight's dtype; needs weight"),
          scalar("eps", &Args::eps, "positive and finite; not used with rstd"),
          scalar("offset", &Args::offset, "added to the weight: 0, or 1 (gemma, zero-initialised)"),
          scalar("rounding", &Args::rounding, "where the forward rounded to x's dtype")};
    }
  };

  struct Problem {
    std::int64_t rows = 4096;
    std::int64_t cols = 4096;
    DType dtype = kBF16;
    std::optional<DType> weight = kBF16;
    std::optional<DType> dweight = kBF16;
    std::optional<DType> residual;
    bool rstd = false;
    int offset = 0;
    Rounding rounding = Rounding::kLlama;
    Layout layout = Layout::kContiguous;
    int align = 16;

    bool operator==(const Problem&) const = default;

    static constexpr auto fields() {
      return std::tuple{
          field("rows", &Problem::rows, "product of x's leading dimensions", 0, double{kMaxRows}),
          field("cols", &Problem::cols, "size of the normalised dimension", 1, double{kMaxCols}),
          field("dtype", &Problem::dtype, "of dy, x and dx: f32, f16, bf16 or f64"),
          field("weight", &Problem::weight, "dtype of the weight (default: dtype), or none"),
          field("dweight", &Problem::dweight,
                "dtype of dweight, f32 or the weight's (default: the weight's), or none"),
          field("residual", &Problem::residual, "dtype of dresidual_out, or none"),
          field("rstd", &Problem::rstd, "the reciprocal rms of each row is given"),
          field("offset", &Problem::offset, "added to the weight", 0, 1),
          field("rounding", &Problem::rounding, "where the forward rounded"),
          field("layout", &Problem::layout, "row_strided: rows of some tensor have gaps"),
          field("align", &Problem::align,
                "bytes, a power of two, that divide every address and row stride", 1, 16)};
    }
  };

  /// Checks every argument and says what the call is. TypeError: missing tensor, rank, dtype,
  /// device, f64 beside another dtype. ValueError: sizes, strides, overlap, eps, offset, dweight
  /// without weight. dx over x is refused, in place or not: x is the forward's, which other users
  /// may have saved as well.
  static Problem match(const Args& args);
  static Device device(const Args& args) { return args.x.device(); }

  static std::vector<Key> keys();
  /// Pairs as on the command line, completed (weight follows dtype, dweight the weight) and
  /// checked.
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

  /// What make_inputs multiplies dy and dresidual_out by, so that an f16 dweight of many rows does
  /// not overflow. 1 but for those.
  static double gradient_scale(const Problem& problem);
};

namespace rms_norm_bwd {

/// Computes dx, and dweight when given, on `stream`. `variant` names one ("smxx/rows_v1"); empty:
/// the best that serves. Nothing is written when an argument is refused. Without rows dweight is 0.
void run(const RmsNormBwd::Args& args, Stream stream, std::string_view variant = {});

/// Selects, compiles and loads what run() would use, so that run() can be captured in a graph.
void prepare(const RmsNormBwd::Args& args, Stream stream, std::string_view variant = {});

}  // namespace rms_norm_bwd
}  // namespace einkorn
