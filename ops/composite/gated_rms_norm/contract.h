#pragma once

// gated_rms_norm: the normalisation of gated linear attention and of Mamba 2.
//
//   n = rms_norm(x, weight, eps)      as the op rms_norm with rounding = llama, rounded to the
//   dtype y = silu(gate) * n                as the op silu_mul
//
// Source: Dao and Gu 2024, "Transformers are SSMs", section 7.1, with the norm before the gate, as
// Qwen3-Next has it. Made of the two ops, so it is right wherever they are; n lies in a workspace.

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

struct GatedRmsNorm {
  static constexpr std::string_view kName = "gated_rms_norm";
  static constexpr std::string_view kFamily = "composite";
  static constexpr std::string_view kSummary = "y = silu(gate) * rms_norm(x, weight)";

  static constexpr std::int64_t kMaxRows = RmsNorm::kMaxRows;
  static constexpr std::int64_t kMaxCols = RmsNorm::kMaxCols;

  struct Args {
    TensorView x;       ///< [..., cols], contiguous, f32 f16 bf16
    TensorView gate;    ///< like x
    TensorView weight;  ///< [cols], contiguous, x's dtype
    TensorView y;       ///< out, like x; may be exactly gate
    double eps = 1e-6;  ///< > 0 and finite

    static constexpr auto arguments() {
      return std::tuple{input("x", &Args::x, "[..., cols], contiguous, f32, f16 or bf16"),
                        input("gate", &Args::gate, "like x"),
                        input("weight", &Args::weight, "[cols], contiguous, x's dtype"),
                        output("y", &Args::y, Like{"x"}, "like x; may be exactly gate"),
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
          field("rows", &Problem::rows, "product of x's leading dimensions", 0, double{kMaxRows}),
          field("cols", &Problem::cols, "size of the normalised dimension", 1, double{kMaxCols}),
          field("dtype", &Problem::dtype, "of all tensors: f32, f16 or bf16"),
          field("align", &Problem::align,
                "bytes, a power of two, that divide every address and row", 1, 16)};
    }

    /// The problems of the two parts.
    RmsNorm::Problem norm() const;
    SiluMul::Problem product() const;
  };

  /// As for every contract: typed errors naming the argument, nothing written.
  static Problem match(const Args& args);
  static Device device(const Args& args) { return args.x.device(); }

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

namespace gated_rms_norm {

/// Computes y on `stream`; arguments as for rms_norm::run.
void run(const GatedRmsNorm::Args& args, Stream stream, std::string_view variant = {});
void prepare(const GatedRmsNorm::Args& args, Stream stream, std::string_view variant = {});

}  // namespace gated_rms_norm
}  // namespace einkorn
