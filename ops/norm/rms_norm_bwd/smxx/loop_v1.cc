// Host side of rms_norm_bwd/smxx/loop_v1; the idea is told in loop_v1.cu.

#include <algorithm>

#include <einkorn/expression.h>
#include <fmt/format.h>

#include "ops/launch.h"
#include "ops/norm/rms_norm_bwd/contract.h"
#include "ops/norm/rms_norm_bwd/launch.h"

namespace einkorn::rms_norm_bwd::smxx {

struct LoopV1 {
  using Problem = RmsNormBwd::Problem;

  static constexpr const char* kFile = "ops/norm/rms_norm_bwd/smxx/loop_v1.cu";
  static constexpr int kTileWarps = 8;  // as in the kernel
  static constexpr int kTileThreads = kTileWarps * 32;

  /// dx of a row does not depend on other rows; dweight is over all of them by its meaning.
  static constexpr bool kBatchInvariant = true;

  struct Tiling {
    int threads = 1024;  ///< that sum a row
    int parts = 8;       ///< of the rows at least, each summed by a block of its own

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("threads", &Tiling::threads, "threads that sum a row"),
                        field("parts", &Tiling::parts, "parts of the rows, blocks of their own")};
    }
  };

  static std::optional<Refusal> supports(const Problem&, const DeviceInfo&) { return std::nullopt; }

  static std::optional<Refusal> validate(const Problem& problem, const Tiling& tiling,
                                         const DeviceInfo&) {
    if (auto refusal = cuda::refuse_threads(tiling.threads)) return refusal;
    // 8 parts of 8 warps are the 64 sums that the contract asks for.
    if (tiling.parts < 8 || tiling.parts * tiles(problem) > cuda::kMaxBlocks) {
      return Refusal{fmt::format("parts {} is not from 8 to {}, of {} tiles each", tiling.parts,
                                 cuda::kMaxBlocks / tiles(problem), tiles(problem))};
    }
    return std::nullopt;
  }

  /// Blocks side by side that cover the columns.
  static std::int64_t tiles(const Problem& problem) {
    const int columns = 32 * vector_width(problem);
    return (problem.cols + columns - 1) / columns;
  }

  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo& device) {
    // 16 blocks of 8 warps a multiprocessor: two to three times what it holds.
    const auto parts = static_cast<int>(
        std::max<std::int64_t>(8, 16 * std::int64_t{device.sm_count} / tiles(problem)));
    // The widest rows need 1024 threads to bound the chain of additions.
    if (problem.cols > 32768) return {{1024, parts}};
    return {{256, parts}, {512, parts}, {1024, parts}};
  }

  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo& device) {
    Plan out;
    // A part's warps take its rows in turn; more parts than that would find none.
    const std::int64_t parts =
        std::min<std::int64_t>(tiling.parts, (problem.rows + kTileWarps - 1) / kTileWarps);
    const Params params = make_params(problem, parts);
    if (problem.rows > 0) {
      out.stages.emplace_back(factors_stage(problem, tiling, params, device));
      out.stages.emplace_back(gradients_stage(problem, params, device));
      out.workspace_bytes =
          partial_bytes(params) + static_cast<std::size_t>(problem.rows) * 2 * sizeof(float);
    }
    if (problem.dweight) out.stages.emplace_back(sum_stage(kFile, problem, params, device));
    return out;
  }

  static LaunchStage factors_stage(const Problem& problem, const Tiling& tiling,
                                   const Params& params, const DeviceInfo& device) {
    const cuda::Launch launch =
        cuda::line_of_blocks(std::min(problem.rows, cuda::kMaxBlocks), tiling.threads, device);
    LaunchStage stage = launch_stage<RmsNormBwd::Args, Params>(
        "factors", kFile,
        jit::instantiate("einkorn::rms_norm_bwd::smxx::loop_v1_factors",
                         {traits(problem), vector_width(problem), problem.align, tiling.threads}),
        launch, params, bind);
    const double elements = static_cast<double>(problem.rows) * static_cast<double>(problem.cols);
    stage.cost = {.flops = 5 * elements, .bytes = 2 * elements * bits(problem.dtype) / 8};
    stage.needs = {.registers = registers_under_bounds(tiling.threads),
                   .static_smem = tiling.threads / 32 * 2 * std::int64_t{sizeof(float)}};
    return stage;
  }

  static LaunchStage gradients_stage(const Problem& problem, const Params& params,
                                     const DeviceInfo& device) {
    const int vec = vector_width(problem);
    const cuda::Launch launch =
        cuda::line_of_blocks(params.partial_rows * tiles(problem), kTileThreads, device);
    LaunchStage stage = launch_stage<RmsNormBwd::Args, Params>(
        "loop_v1", kFile,
        jit::instantiate("einkorn::rms_norm_bwd::smxx::loop_v1",
                         {traits(problem), vec, problem.align}),
        launch, params, bind);
    stage.cost = gradient_cost(problem, params);
    const int sums = problem.dweight ? kTileThreads * vec : 32 * vec;
    stage.needs = {.registers = registers_under_bounds(kTileThreads),
                   .static_smem = sums * std::int64_t{sizeof(float)}};
    return stage;
  }
};

extern const Variant loop_v1;
constexpr Variant loop_v1 = make_variant<RmsNormBwd, LoopV1>(
    "smxx", "loop", 1, "cuda", "rows of any length in two passes: their sums, then tiles");

}  // namespace einkorn::rms_norm_bwd::smxx
