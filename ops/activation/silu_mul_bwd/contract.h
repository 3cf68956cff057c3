#pragma once

// silu_mul_bwd: the gradients of silu_mul, from the gradient dy of its result and its inputs.
//
//   plain:    dup   = dy * g * s                           s = sigmoid(g)
//             dgate = dy * u * (s + g * s * (1 - s))
//   clamped:  g' = min(g, limit), u' = max(-limit, min(u, limit)), s = sigmoid(alpha * g')
//             dup   = dy * g' * s                          0 where u > limit or u < -limit
//             dgate = dy * (u' + up_offset) * (s + alpha * g' * s * (1 - s))
//                                                          0 where g > limit
//
// Sources: the derivatives of silu_mul's formulas (Shazeer 2020, "GLU Variants Improve
// Transformer"; the clamped form is gpt-oss's and DeepSeek's). The gradient passes at equality,
// where g is limit and where u is limit or -limit, as it did for years with torch.clamp, which
// gives 0 there in PyTorch 2.15. Where the gradient does not pass it is +0, whatever dy is.
//
// NaN in dy, gate or up comes out wherever the formula has it: a NaN is not clamped. (torch.clamp
// lets no gradient through there: eager PyTorch has 0 for the NaN element's own.) An infinite gate
// that is not clamped gives a dgate of NaN, infinity times zero, as eager PyTorch does.
//
// Everything is computed in f32 (or wider) and rounded once. With the forward's rounding = silu,
// g' * s is rounded to the dtype before its product with dy: dup is then the derivative of what the
// forward computed, as eager PyTorch has it. dgate does not depend on rounding: it is the
// derivative without any. Tensors in f64 are for numerical derivatives: the reference alone serves
// them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <einkorn/op.h>

#include "ops/activation/silu_mul/contract.h"

namespace einkorn {

struct SiluMulBwd {
  static constexpr std::string_view kName = "silu_mul_bwd";
  static constexpr std::string_view kFamily = "activation";
  static constexpr std::string_view kSummary =
      "the gradients of silu_mul's gate and up, or of both in one packed tensor";

  static constexpr std::int64_t kMaxRows = SiluMul::kMaxRows;
  static constexpr std::int64_t kMaxCols = SiluMul::kMaxCols;

  using Rounding = SiluMul::Rounding;
  using Packing = SiluMul::Packing;
  using Layout = SiluMul::Layout;
  /// The forward's: the gradients lie as their inputs do.
  using Problem = SiluMul::Problem;

  /// Every output element depends on the inputs at its own position alone, so dgate and dup may
  /// each be exactly dy, gate or up (but not each other), and dpacked exactly packed.
  struct Args {
    TensorView dy;       ///< [..., N], f32 f16 bf16 f64: the gradient of silu_mul's y
    TensorView gate;     ///< [..., N], same dtype; with `packed` left out
    TensorView up;       ///< like gate
    TensorView packed;   ///< [..., 2N]; then gate, up, dgate and dup are left out
    TensorView dgate;    ///< out, like gate
    TensorView dup;      ///< out, like up
    TensorView dpacked;  ///< out, like packed, and with it
    Packing packing = Packing::kSplit;
    bool clamp = false;
    double limit = 7.0;      ///< clamped form; > 0
    double alpha = 1.0;      ///< clamped form; finite
    double up_offset = 0.0;  ///< clamped form; finite
    Rounding rounding = Rounding::kOnce;

    static constexpr auto arguments() {
      return std::tuple{
          input("dy", &Args::dy, "[..., n], f32, f16, bf16 or f64: the gradient of silu_mul's y"),
          alternative_input(1, "gate", &Args::gate,
                            "[..., n], of dy's dtype; left out with packed"),
          alternative_input(1, "up", &Args::up, "like gate; left out with packed"),
          alternative_input(2, "packed", &Args::packed,
                            "[..., 2n]: gate and up in one tensor, as packing says"),
          output("dgate", &Args::dgate, Like{"gate"},
                 "like gate, and with it; may be exactly dy, gate or up"),
          output("dup", &Args::dup, Like{"up"},
                 "like up, and with it; may be exactly dy, gate or up"),
          output("dpacked", &Args::dpacked, Like{"packed"},
                 "like packed, and with it; may be exactly packed"),
          scalar("packing", &Args::packing,
                 "split: gate and up; halves of packed; or its interleaved columns"),
          scalar("clamp", &Args::clamp, "the clamped form, with limit, alpha and up_offset"),
          scalar("limit", &Args::limit, "of the clamped form, positive"),
          scalar("alpha", &Args::alpha, "of the clamped form, finite: sigmoid(alpha * gate)"),
          scalar("up_offset", &Args::up_offset, "of the clamped form, finite: added to up"),
          scalar("rounding", &Args::rounding,
                 "silu_mul's; silu: round silu(gate) before the product with dy")};
    }
  };

  /// As for every contract: typed errors naming the argument, nothing written.
  static Problem match(const Args& args);
  static Device device(const Args& args) { return args.dy.device(); }

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

namespace silu_mul_bwd {

/// Computes the gradients on `stream`; arguments as for rms_norm::run.
void run(const SiluMulBwd::Args& args, Stream stream, std::string_view variant = {});
void prepare(const SiluMulBwd::Args& args, Stream stream, std::string_view variant = {});

}  // namespace silu_mul_bwd
}  // namespace einkorn
