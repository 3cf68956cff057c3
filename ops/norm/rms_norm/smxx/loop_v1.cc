// Host side of rms_norm/smxx/loop_v1; the idea is told in loop_v1.cu.

#include <algorithm>

#include <einkorn/batch_invariant.h>
#include <einkorn/expression.h>
#include <fmt/format.h>

#include "ops/launch.h"
#include "ops/norm/rms_norm/contract.h"
#include "ops/norm/rms_norm/launch.h"

namespace einkorn::rms_norm::smxx {

struct LoopV1 {
  using Problem = RmsNorm::Problem;

  static constexpr bool kBatchInvariant = true;  // see supports()

  struct Tiling {
    int threads = 1024;

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("threads", &Tiling::threads, "threads a block and row")};
    }
  };

  static std::optional<Refusal> supports(const Problem& problem, const DeviceInfo&) {
    Problem aligned = problem;
    aligned.align = 16;  // one row of a strided tensor does not show its stride's alignment
    if (batch_invariant_mode() && vector_width(problem) != vector_width(aligned)) {
      return Refusal{
          fmt::format("align {}: another order of sums than one row alone has", problem.align)};
    }
    return std::nullopt;
  }

  static std::optional<Refusal> validate(const Problem&, const Tiling& tiling, const DeviceInfo&) {
    return cuda::refuse_threads(tiling.threads);
  }

  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo&) {
    // The widest rows need 1024 threads to bound the chain of additions; short rows would idle most
    // of them (measured on an H100: 256 threads are the best at 1024 to 4096 columns, 512 at 8192).
    if (problem.cols > 32768) return {{1024}};
    if (problem.cols > 4096) return {{512}, {1024}, {256}};
    return {{256}, {512}, {1024}};
  }

  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo& device) {
    Plan out;
    if (problem.rows == 0) return out;
    const cuda::Launch launch =
        cuda::line_of_blocks(std::min(problem.rows, cuda::kMaxBlocks), tiling.threads, device);
    LaunchStage stage = launch_stage<RmsNorm::Args, Params>(
        "loop_v1", "ops/norm/rms_norm/smxx/loop_v1.cu",
        jit::instantiate("einkorn::rms_norm::smxx::loop_v1",
                         {traits(problem), vector_width(problem), problem.align, tiling.threads}),
        launch, make_params(problem), bind);
    stage.needs = {.registers = registers_under_bounds(tiling.threads),
                   .static_smem = tiling.threads / 32 * std::int64_t{sizeof(float)}};
    out.stages.emplace_back(std::move(stage));
    return out;
  }
};

extern const Variant loop_v1;
constexpr Variant loop_v1 = make_variant<RmsNorm, LoopV1>(
    "smxx", "loop", 1, "cuda", "a block walks a row of any length twice, the second time in L2");

}  // namespace einkorn::rms_norm::smxx
