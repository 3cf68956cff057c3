#pragma once

// rms_norm: root-mean-square normalisation of rows, with the additions that models make to it.
//
//   h     = x + residual          (x when there is no residual; the sum in f32 or wider)
//   r     = 1 / sqrt(mean(h^2) + eps)
//   y     = h * r * (w + offset)  (w + offset = 1 without a weight)
//
// Source: Zhang and Sennrich 2019, "Root Mean Square Layer Normalization", eq. 4. The rounding
// points are what distinguishes the models' implementations, so they are part of the contract:
//
//   rounding | h * r                    | w + offset            | product
//   llama    | rounded to x's dtype     | f32                   | rounded to x's dtype
//   gemma    | f32                      | f32                   | rounded to x's dtype
//   none     | r, then h * r, rounded   | rounded to x's dtype  | rounded to x's dtype
//
// "none" is the naive module that never leaves x's dtype; only its sum of squares accumulates in
// f32. With x in f32 the three differ by rounding of f32 alone. Tensors in f64, all or none, are
// for numerical derivatives: the reference alone serves them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <einkorn/op.h>

namespace einkorn {

struct RmsNorm {
  static constexpr std::string_view kName = "rms_norm";
  static constexpr std::string_view kFamily = "norm";
  static constexpr std::string_view kSummary =
      "y = x / sqrt(mean(x^2) + eps) * (weight + offset), optional residual add";

  static constexpr std::int64_t kMaxRows = std::int64_t{1} << 40;
  static constexpr std::int64_t kMaxCols = 262144;

  enum class Rounding : std::uint8_t { kLlama, kGemma, kNone };
  /// How rows lie in memory: one after the other, or with a stride of their own in some tensor.
  enum class Layout : std::uint8_t { kContiguous, kRowStrided };

  struct Args {
    TensorView x;             ///< [..., cols], f32 f16 bf16 f64; leading dims with one row stride
    TensorView weight;        ///< [cols], contiguous, f32 f16 bf16 f64; optional
    TensorView residual;      ///< like x, any of the dtypes; optional
    TensorView y;             ///< out, like x and of its dtype; may be exactly x
    TensorView residual_out;  ///< out, h in the residual's dtype; needs residual, may be exactly it
    TensorView rstd;          ///< out, [...] contiguous f32: r of each row; optional
    double eps = 1e-6;        ///< > 0 and finite
    int offset = 0;           ///< added to the weight: 0 (llama), 1 (gemma, zero-initialised)
    Rounding rounding = Rounding::kLlama;

    static constexpr auto arguments() {
      return std::tuple{
          input("x", &Args::x,
                "[..., cols], f32, f16, bf16 or f64; leading dims with one row stride"),
          optional_input("weight", &Args::weight, "[cols], contiguous, f32, f16, bf16 or f64"),
          optional_input("residual", &Args::residual,
                         "like x, f32, f16, bf16 or f64; added before the norm"),
          output("y", &Args::y, Like{"x"}, "like x and of its dtype; may be exactly x"),
          optional_output("residual_out", &Args::residual_out, Like{"residual"},
                          "x + residual, like residual; may be exactly it"),
          optional_output("rstd", &Args::rstd,
                          Like{.tensor = "x", .shape = "x.shape[:-1]", .dtype = "f32+"},
                          "[...], contiguous, f32 or f64: 1 / sqrt(mean + eps) of each row"),
          scalar("eps", &Args::eps, "positive and finite"),
          scalar("offset", &Args::offset, "added to the weight: 0, or 1 (gemma, zero-initialised)"),
          scalar("rounding", &Args::rounding,
                 "where intermediate results are rounded to x's dtype")};
    }
  };

  struct Problem {
    std::int64_t rows = 4096;
    std::int64_t cols = 4096;
    DType dtype = kBF16;
    std::optional<DType> weight = kBF16;
    std::optional<DType> residual;
    bool residual_out = false;
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
          field("dtype", &Problem::dtype, "of x and y: f32, f16, bf16 or f64"),
          field("weight", &Problem::weight, "dtype of the weight (default: dtype), or none"),
          field("residual", &Problem::residual, "dtype of the residual, or none"),
          field("residual_out", &Problem::residual_out,
                "write h = x + residual (default: true with a residual)"),
          field("rstd", &Problem::rstd, "write the reciprocal rms of each row"),
          field("offset", &Problem::offset, "added to the weight", 0, 1),
          field("rounding", &Problem::rounding, "where intermediate results are rounded"),
          field("layout", &Problem::layout, "row_strided: rows of some tensor have gaps"),
          field("align", &Problem::align,
                "bytes, a power of two, that divide every address and row stride", 1, 16)};
    }
  };

  /// Checks every argument and says what the call is. TypeError: missing tensor, rank, dtype,
  /// device. ValueError: sizes, strides, overlap, eps, offset, residual_out without residual.
  static Problem match(const Args& args);
  static Device device(const Args& args) { return args.x.device(); }

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

template <>
struct EnumNames<RmsNorm::Rounding> {
  static constexpr std::array<std::string_view, 3> kNames{"llama", "gemma", "none"};
};
template <>
struct EnumNames<RmsNorm::Layout> {
  static constexpr std::array<std::string_view, 2> kNames{"contiguous", "row_strided"};
};

namespace rms_norm {

/// Normalises x into y on `stream`. `variant` names one ("sm90/bulk_v1"); empty: the best that
/// serves. Nothing is written when an argument is refused.
void run(const RmsNorm::Args& args, Stream stream, std::string_view variant = {});

/// Selects, compiles and loads what run() would use, so that run() can be captured in a graph.
void prepare(const RmsNorm::Args& args, Stream stream, std::string_view variant = {});

}  // namespace rms_norm
}  // namespace einkorn
