#pragma once

// gated_norm_pair: a gated unit whose two branches are normalised apart.
//
//   g = rms_norm(gate, gate_weight, eps), u = rms_norm(up, up_weight, eps)
//                                     as the op rms_norm with rounding = llama, rounded to the
//                                     dtype
//   y = silu(g) * u                   as the op silu_mul
//
// Made of the three calls, two of which do not depend on each other; g and u lie in a workspace.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <einkorn/op.h>

#include "ops/activation/silu_mul/contract.h"
#include "ops/norm/rms_norm/contract.h"

namespace einkorn {

struct GatedNormPair {
  static constexpr std::string_view kName = "gated_norm_pair";
  static constexpr std::string_view kFamily = "composite";
  static constexpr std::string_view kSummary = "y = silu(rms_norm(gate)) * rms_norm(up)";

  static constexpr std::int64_t kMaxRows = RmsNorm::kMaxRows;
  static constexpr std::int64_t kMaxCols = RmsNorm::kMaxCols;

  struct Args {
    TensorView gate;         ///< [..., cols], contiguous, f32 f16 bf16
    TensorView up;           ///< like gate
    TensorView gate_weight;  ///< [cols], contiguous, gate's dtype
    TensorView up_weight;    ///< like gate_weight
    TensorView y;            ///< out, like gate; may be exactly gate or up
    double eps = 1e-6;       ///< > 0 and finite

    static constexpr auto arguments() {
      return std::tuple{
          input("gate", &Args::gate, "[..., cols], contiguous, f32, f16 or bf16"),
          input("up", &Args::up, "like gate"),
          input("gate_weight", &Args::gate_weight, "[cols], contiguous, gate's dtype"),
          input("up_weight", &Args::up_weight, "like gate_weight"),
          output("y", &Args::y, Like{"gate"}, "like gate; may be exactly gate or up"),
          scalar("eps", &Args::eps, "positive and finite")};
    }
  };

  struct Problem {
    std::int64_t rows = 4096;
    std::int64_t cols = 4096;
    DType dtype = kBF16;
    int align = 16;

    bool operator==(const Problem&) const = default;

    static constexpr auto fields() {
      return std::tuple{
          field("rows", &Problem::rows, "product of gate's leading dimensions", 0,
                double{kMaxRows}),
          field("cols", &Problem::cols, "size of the normalised dimension", 1, double{kMaxCols}),
          field("dtype", &Problem::dtype, "of all tensors: f32, f16 or bf16"),
          field("align", &Problem::align,
                "bytes, a power of two, that divide every address and row", 1, 16)};
    }

    /// The problems of the parts: of either norm, and of the product.
    RmsNorm::Problem norm() const;
    SiluMul::Problem product() const;
  };

  /// As for every contract: typed errors naming the argument, nothing written.
  static Problem match(const Args& args);
  static Device device(const Args& args) { return args.gate.device(); }

  static std::vector<Key> keys();
  static Problem parse(const KeyValues& pairs);
  static std::string print(const Problem& problem);

  /// Of the result alone: what passes through the workspace is a variant's.
  static Work work(const Problem& problem);
  static Tolerance tolerance(const Problem& problem);
  /// Outputs of the contract's dtype or f64. CPU only.
  static void reference(const Args& args);
  static std::span<const Case> cases();
  static Inputs<Args> make_inputs(const Problem& problem, Rng& rng);
};

namespace gated_norm_pair {

/// Computes y on `stream`; arguments as for rms_norm::run.
void run(const GatedNormPair::Args& args, Stream stream, std::string_view variant = {});
void prepare(const GatedNormPair::Args& args, Stream stream, std::string_view variant = {});

}  // namespace gated_norm_pair
}  // namespace einkorn
