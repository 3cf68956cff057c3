// Host side of rms_norm_bwd/sm90/bulk_v1; the idea is told in bulk_v1.cu.

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <einkorn/expression.h>
#include <fmt/format.h>

#include "ops/launch.h"
#include "ops/norm/rms_norm_bwd/contract.h"
#include "ops/norm/rms_norm_bwd/launch.h"

namespace einkorn::rms_norm_bwd::sm90 {

struct BulkV1 {
  using Problem = RmsNormBwd::Problem;

  static constexpr const char* kFile = "ops/norm/rms_norm_bwd/sm90/bulk_v1.cu";
  /// Elements of 16 bits. Of shorter rows, and of those in f32, smxx/rows_v1 has more in flight,
  /// and reads them once: 109.5 to 114.4 us at 16384 x 4096 bf16, 201 to 218 us at 8192 x 8192 f32,
  /// but 268 to 222 us at 16384 x 8192 bf16; H200 (docs/devlog/20261128-plans.md).
  static constexpr std::int64_t kMinCols = 4097;
  static constexpr int kMaxElements = 32;  // of a row, a thread
  static constexpr int kMaxStages = 8;     // of a group

  /// A row's bits follow from its length alone here, but not which variant is chosen: the stride of
  /// many rows may be unaligned, and they go to smxx/rows_v1, whose sums have another order; one of
  /// them alone has no stride, and would come here.
  static constexpr bool kBatchInvariant = false;

  struct Tiling {
    int lanes = 256;  ///< threads a group, which works on one row
    int items = 4;    ///< vectors a thread
    int groups = 2;   ///< groups a block
    int stages = 3;   ///< rows a group has in shared memory, the one it works on among them
    int blocks = 1;   ///< blocks that stay on each multiprocessor

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("lanes", &Tiling::lanes, "threads a group"),
                        field("items", &Tiling::items, "vectors a thread"),
                        field("groups", &Tiling::groups, "groups a block"),
                        field("stages", &Tiling::stages, "rows in shared memory a group"),
                        field("blocks", &Tiling::blocks, "blocks that stay on a multiprocessor")};
    }
  };

  static int threads(const Tiling& tiling) { return tiling.lanes * tiling.groups; }

  /// Bytes of dy, x and dresidual_out of one row.
  static std::int64_t stage_bytes(const Problem& problem) {
    return problem.cols * input_bits(problem) / 8;
  }
  /// The rings of a block, then the weight.
  static std::int64_t dynamic_bytes(const Problem& problem, const Tiling& tiling) {
    const std::int64_t weight = problem.weight ? problem.cols * bits(*problem.weight) / 8 : 0;
    return std::int64_t{tiling.groups} * tiling.stages * stage_bytes(problem) + weight;
  }

  /// Barriers of the rings and of the weight, and warps' sums twice; the rings behind them are
  /// aligned to 128 bytes.
  static std::int64_t static_bytes(const Tiling& tiling) {
    const std::int64_t sums = 2 * (tiling.lanes / 32) * 2 * std::int64_t{sizeof(float)};
    return (tiling.groups * (tiling.stages * 8 + sums) + 8 + 127) / 128 * 128;
  }

  /// Registers a thread that the assembler gets by with, over all dtypes, roundings and shapes
  /// (tests/ops/compile_test.cc): for an element its sum of dweight, and what is computed of some
  /// of them at a time. Fitted to NVRTC 13.0.
  static int registers(const Problem& problem, const Tiling& tiling) {
    const int elements = tiling.items * vector_width(problem);
    const int residual_bits = problem.residual ? bits(*problem.residual) : 0;
    return 40 + 2 * elements + elements * residual_bits * 3 / 64;
  }

  static std::optional<Refusal> supports(const Problem& problem, const DeviceInfo& device) {
    if (problem.align < 16) {
      return Refusal{
          fmt::format("align {} < 16: bulk copies move multiples of 16 bytes", problem.align)};
    }
    for (const auto dtype : {std::optional(problem.dtype), problem.residual, problem.weight}) {
      if (dtype && problem.cols * bits(*dtype) % 128 != 0) {
        return Refusal{fmt::format("a row of {} {} elements is not a multiple of 16 bytes",
                                   problem.cols, name(*dtype))};
      }
    }
    if (problem.cols < kMinCols || bits(problem.dtype) != 16) {
      return Refusal{
          fmt::format("cols {} dtype {}: rows of fewer than {} elements, or of 32 bits, are faster "
                      "in registers",
                      problem.cols, name(problem.dtype), kMinCols)};
    }
    if (tilings(problem, device).empty()) {
      return Refusal{
          fmt::format("rows of {} bytes: a ring of two does not fit {} bytes of shared memory, or "
                      "they need more than {} elements a thread, or more registers than there are",
                      stage_bytes(problem), device.smem_per_block_optin, kMaxElements)};
    }
    return std::nullopt;
  }

  static std::optional<Refusal> validate(const Problem& problem, const Tiling& tiling,
                                         const DeviceInfo& device) {
    const auto [lanes, items, groups, stages, blocks] = tiling;
    if (lanes < 128 || lanes > 1024 || (lanes & (lanes - 1)) != 0) {
      return Refusal{fmt::format("lanes {} is not a power of two from 128 to 1024", lanes)};
    }
    if (groups < 1 || std::int64_t{lanes} * groups > 1024) {
      return Refusal{fmt::format("{} groups of {} lanes are not 1 to 1024 threads", groups, lanes)};
    }
    if (blocks < 1 || std::int64_t{blocks} * lanes * groups > device.max_threads_per_sm) {
      return Refusal{fmt::format("{} blocks of {} threads are not 1 to {} threads", blocks,
                                 lanes * groups, device.max_threads_per_sm)};
    }
    const int vec = vector_width(problem);
    if (items < 1 || std::int64_t{lanes} * items < vectors(problem)) {
      return Refusal{fmt::format("{} lanes of {} vectors of {} elements do not cover {} columns",
                                 lanes, items, vec, problem.cols)};
    }
    if (std::int64_t{items} * vec > kMaxElements) {
      return Refusal{fmt::format("{} vectors of {} elements > {}, what a thread's registers hold",
                                 items, vec, kMaxElements)};
    }
    if (stages < 2 || stages > kMaxStages) {
      return Refusal{fmt::format("{} stages are not 2 to {}", stages, kMaxStages)};
    }
    // A kibibyte a block is the system's.
    const std::int64_t smem = dynamic_bytes(problem, tiling) + static_bytes(tiling);
    if (smem > device.smem_per_block_optin || (smem + 1024) * blocks > device.smem_per_sm) {
      return Refusal{
          fmt::format("{} blocks of {} bytes of shared memory do not fit {} bytes a "
                      "multiprocessor, {} a block",
                      blocks, smem, device.smem_per_sm, device.smem_per_block_optin)};
    }
    const int limit = registers_under_bounds(lanes * groups, blocks);
    if (registers(problem, tiling) > limit) {
      return Refusal{fmt::format("{} registers a thread > {}, what {} blocks of {} threads leave",
                                 registers(problem, tiling), limit, blocks, lanes * groups)};
    }
    return std::nullopt;
  }

  /// Bytes that are on their way to a multiprocessor, on average: of a group's stages one is being
  /// read, and another one until the sums of the next row are there.
  static double in_flight(const Problem& problem, const Tiling& tiling) {
    const double rows = (tiling.stages - 1.5) * tiling.groups * tiling.blocks;
    return rows * static_cast<double>(stage_bytes(problem));
  }

  /// Every shape of a group that covers cols, in as many places as fit and with the longest ring,
  /// the heuristic's first. None of it depends on the number of rows.
  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo& device) {
    std::vector<Tiling> out;
    for (int lanes = 128; lanes <= 1024; lanes *= 2) {
      if (lanes / 2 >= vectors(problem)) break;  // half the threads would idle
      const int items = (vectors(problem) + lanes - 1) / lanes;
      for (const auto& [groups, blocks] :
           {std::pair{1, 1}, {2, 1}, {3, 1}, {4, 1}, {1, 2}, {2, 2}}) {
        if (lanes * groups * blocks < 256) continue;  // too few to keep up
        Tiling tiling{lanes, items, groups, kMaxStages, blocks};
        while (tiling.stages > 1 && validate(problem, tiling, device)) --tiling.stages;
        if (tiling.stages > 1) out.push_back(tiling);
      }
    }
    // Twice what is enough, for a ring is not refilled evenly. Then 512 threads, in two groups, one
    // of which computes while the other exchanges sums. All shapes of 16384 x 8192 bf16 are within
    // 2 %: what is computed of an element bounds them.
    constexpr double kEnough = 2 * kEnoughInFlight;
    const auto badness = [&](const Tiling& tiling) {
      return std::tuple(-std::min(in_flight(problem, tiling), kEnough),
                        std::abs(threads(tiling) * tiling.blocks - 512),
                        std::abs(tiling.groups * tiling.blocks - 2), tiling.blocks);
    };
    std::ranges::stable_sort(
        out, [&](const Tiling& a, const Tiling& b) { return badness(a) < badness(b); });
    return out;
  }

  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo& device) {
    const std::int64_t blocks = staying_blocks(problem.rows, tiling.blocks, device);
    return staying_plan(kFile, problem, blocks, device, [&](const Params& params) {
      return rows_stage(problem, tiling, params, device);
    });
  }

  static LaunchStage rows_stage(const Problem& problem, const Tiling& tiling, const Params& params,
                                const DeviceInfo& device) {
    const int vec = vector_width(problem);
    const bool exact = std::int64_t{tiling.lanes} * tiling.items * vec == problem.cols;
    cuda::Launch launch = cuda::line_of_blocks(params.partial_rows, threads(tiling), device);
    launch.smem_bytes = static_cast<std::uint32_t>(dynamic_bytes(problem, tiling));
    LaunchStage stage = launch_stage<RmsNormBwd::Args, Params>(
        "bulk_v1", kFile,
        jit::instantiate("einkorn::rms_norm_bwd::sm90::bulk_v1",
                         {traits(problem), vec, tiling.lanes, tiling.items, tiling.groups,
                          tiling.stages, tiling.blocks, exact}),
        launch, params, bind);
    stage.cost = gradient_cost(problem, params);
    stage.needs = {.registers = registers_under_bounds(threads(tiling), tiling.blocks),
                   .static_smem = static_bytes(tiling)};
    return stage;
  }
};

extern const Variant bulk_v1;
constexpr Variant bulk_v1 = make_variant<RmsNormBwd, BulkV1>(
    "sm90", "bulk", 1, "cuda",
    "long rows in rings that bulk copies fill, read twice there; groups that stay carry dweight");

}  // namespace einkorn::rms_norm_bwd::sm90
