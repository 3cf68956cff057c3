#pragma once

// silu_mul: the gated activation of SwiGLU.
//
//   plain:    y = g * sigmoid(g) * u
//   clamped:  g' = min(g, limit), u' = max(-limit, min(u, limit))
//             y = (u' + up_offset) * g' * sigmoid(alpha * g')
//
// Sources: Shazeer 2020, "GLU Variants Improve Transformer"; the clamped form with alpha = 1.702,
// limit = 7, up_offset = 1 is gpt-oss's, with alpha = 1, up_offset = 0 DeepSeek's. NaN passes
// through the clamps. Everything is computed in f32 (or wider) and rounded once, except with
// rounding = silu: g * sigmoid(alpha * g) is rounded to the dtype before the product, as eager
// PyTorch and Liger do. Tensors in f64 are for numerical derivatives: the reference alone serves
// them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <einkorn/op.h>

namespace einkorn {

struct SiluMul {
  static constexpr std::string_view kName = "silu_mul";
  static constexpr std::string_view kFamily = "activation";
  static constexpr std::string_view kSummary =
      "y = silu(gate) * up, from two tensors or one packed, optionally clamped";

  static constexpr std::int64_t kMaxRows = std::int64_t{1} << 40;
  static constexpr std::int64_t kMaxCols = std::int64_t{1} << 24;

  enum class Rounding : std::uint8_t { kOnce, kSilu };
  /// Where gate and up are: two tensors; the halves of [..., 2N]; or columns 2i and 2i + 1 of it.
  enum class Packing : std::uint8_t { kSplit, kHalves, kInterleaved };
  enum class Layout : std::uint8_t { kContiguous, kRowStrided };

  struct Args {
    TensorView gate;    ///< [..., N], f32 f16 bf16 f64; with `packed` left out
    TensorView up;      ///< like gate
    TensorView packed;  ///< [..., 2N]; then gate and up are left out
    TensorView y;       ///< out, [..., N], same dtype; may be exactly gate or up
    Packing packing = Packing::kSplit;
    bool clamp = false;
    double limit = 7.0;      ///< clamped form; > 0
    double alpha = 1.0;      ///< clamped form; finite
    double up_offset = 0.0;  ///< clamped form; finite
    Rounding rounding = Rounding::kOnce;

    static constexpr auto arguments() {
      return std::tuple{
          alternative_input(1, "gate", &Args::gate,
                            "[..., n], f32, f16, bf16 or f64; left out with packed"),
          alternative_input(1, "up", &Args::up, "like gate; left out with packed"),
          alternative_input(2, "packed", &Args::packed,
                            "[..., 2n]: gate and up in one tensor, as packing says"),
          output("y", &Args::y,
                 Like{.tensor = "gate if packed is None else packed",
                      .shape = "gate.shape if packed is None else "
                               "(*packed.shape[:-1], packed.shape[-1] // 2)"},
                 "[..., n], of the inputs' dtype; may be exactly gate or up"),
          scalar("packing", &Args::packing,
                 "split: gate and up; halves of packed; or its interleaved columns"),
          scalar("clamp", &Args::clamp, "the clamped form, with limit, alpha and up_offset"),
          scalar("limit", &Args::limit, "of the clamped form, positive"),
          scalar("alpha", &Args::alpha, "of the clamped form, finite: sigmoid(alpha * gate)"),
          scalar("up_offset", &Args::up_offset, "of the clamped form, finite: added to up"),
          scalar("rounding", &Args::rounding, "silu: round silu(gate) before the product")};
    }
  };

  struct Problem {
    std::int64_t rows = 4096;
    std::int64_t cols = 14336;
    DType dtype = kBF16;
    Packing packing = Packing::kSplit;
    bool clamp = false;
    Rounding rounding = Rounding::kOnce;
    Layout layout = Layout::kContiguous;
    int align = 16;

    bool operator==(const Problem&) const = default;

    static constexpr auto fields() {
      return std::tuple{
          field("rows", &Problem::rows, "product of the leading dimensions", 0, double{kMaxRows}),
          field("cols", &Problem::cols, "N, the columns of gate and of up", 1, double{kMaxCols}),
          field("dtype", &Problem::dtype, "of all tensors: f32, f16, bf16 or f64"),
          field("packing", &Problem::packing, "where gate and up are"),
          field("clamp", &Problem::clamp, "the clamped form, with limit, alpha and up_offset"),
          field("rounding", &Problem::rounding, "silu: round silu(gate) before the product"),
          field("layout", &Problem::layout, "row_strided: rows of some tensor have gaps"),
          field("align", &Problem::align,
                "bytes, a power of two, that divide every address and row stride", 1, 16)};
    }
  };

  /// As for every contract: typed errors naming the argument, nothing written.
  static Problem match(const Args& args);
  static Device device(const Args& args) { return args.y.device(); }

  static std::vector<Key> keys();
  static Problem parse(const KeyValues& pairs);
  static std::string print(const Problem& problem);

  /// f64 is for numerical derivatives.
  static std::optional<Refusal> for_reference_only(const Problem& problem);
  static Work work(const Problem& problem);
  static Tolerance tolerance(const Problem& problem);
  /// Outputs of the contract's dtype or f64. CPU only.
  static void reference(const Args& args);
  static std::span<const Case> cases();
  static Inputs<Args> make_inputs(const Problem& problem, Rng& rng);
};

template <>
struct EnumNames<SiluMul::Rounding> {
  static constexpr std::array<std::string_view, 2> kNames{"once", "silu"};
};
template <>
struct EnumNames<SiluMul::Packing> {
  static constexpr std::array<std::string_view, 3> kNames{"split", "halves", "interleaved"};
};
template <>
struct EnumNames<SiluMul::Layout> {
  static constexpr std::array<std::string_view, 2> kNames{"contiguous", "row_strided"};
};

namespace silu_mul {

/// Computes y on `stream`; arguments as for rms_norm::run.
void run(const SiluMul::Args& args, Stream stream, std::string_view variant = {});
void prepare(const SiluMul::Args& args, Stream stream, std::string_view variant = {});

}  // namespace silu_mul
}  // namespace einkorn
