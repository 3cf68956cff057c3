// Host side of rms_norm/sm90/bulk_v1; the idea is told in bulk_v1.cu.

#include <algorithm>

#include <einkorn/expression.h>
#include <fmt/format.h>

#include "ops/norm/rms_norm/contract.h"
#include "ops/norm/rms_norm/launch.h"

namespace einkorn::rms_norm::sm90 {

struct BulkV1 {
  using Problem = RmsNorm::Problem;

  static constexpr bool kBatchInvariant = true;  // the order of a sum follows from cols

  struct Tiling {
    int lanes = 128;  ///< threads a group, which works on one row
    int items = 4;    ///< vectors a thread
    int groups = 2;   ///< groups a block
    int stages = 4;   ///< rows a group has in flight
    int blocks = 2;   ///< blocks a multiprocessor

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("lanes", &Tiling::lanes, "threads a group"),
                        field("items", &Tiling::items, "vectors a thread"),
                        field("groups", &Tiling::groups, "groups a block"),
                        field("stages", &Tiling::stages, "rows in flight a group"),
                        field("blocks", &Tiling::blocks, "blocks a multiprocessor")};
    }
  };

  static std::int64_t stage_bytes(const Problem& problem) {
    std::int64_t bytes = problem.cols * (bits(problem.dtype) / 8);
    if (problem.residual) bytes += problem.cols * (bits(*problem.residual) / 8);
    return bytes;
  }

  static std::optional<Refusal> supports(const Problem& problem, const DeviceInfo& device) {
    if (problem.align < 16) {
      return Refusal{
          fmt::format("align {} < 16: bulk copies move multiples of 16 bytes", problem.align)};
    }
    for (const auto dtype : {std::optional(problem.dtype), problem.residual}) {
      if (dtype && problem.cols * bits(*dtype) % 128 != 0) {
        return Refusal{fmt::format("a row of {} {} elements is not a multiple of 16 bytes",
                                   problem.cols, name(*dtype))};
      }
    }
    if (tilings(problem, device).empty()) {
      return Refusal{
          fmt::format("a ring of rows of {} bytes does not fit registers and {} bytes of "
                      "shared memory",
                      stage_bytes(problem), device.smem_per_block_optin)};
    }
    return std::nullopt;
  }

  /// Rings that fit, the heuristic's first: about 100 KB of rows in flight on a multiprocessor.
  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo& device) {
    const int vec = 128 / bits(problem.dtype);
    const auto vectors = static_cast<int>((problem.cols + vec - 1) / vec);
    const bool wide = problem.residual.has_value() || bits(problem.dtype) == 32;
    std::vector<Tiling> out;
    for (int lanes = 32; lanes <= 512; lanes *= 2) {
      const int items = (vectors + lanes - 1) / lanes;
      if (items * vec > (wide ? 32 : 64) || (lanes > 32 && lanes / 2 >= vectors)) continue;
      for (int groups = 1; groups <= 8 && lanes * groups <= 512; groups *= 2) {
        for (int stages = 2; stages <= 8; ++stages) {
          for (int blocks = 1; blocks <= 8; blocks *= 2) {
            const Tiling tiling{lanes, items, groups, stages, blocks};
            // Fewer threads leave the multiprocessor waiting: measured, see the devlog.
            if (lanes * groups * blocks < 256) continue;
            if (!validate(problem, tiling, device)) out.push_back(tiling);
          }
        }
      }
    }
    std::stable_sort(out.begin(), out.end(), [&](const Tiling& a, const Tiling& b) {
      return badness(problem, a) < badness(problem, b);
    });
    if (out.size() > 48) out.resize(48);
    return out;
  }

  static std::int64_t ring_bytes(const Problem& problem, const Tiling& tiling) {
    return std::int64_t{tiling.groups} * tiling.stages * stage_bytes(problem);
  }

  /// Barriers of the ring, and two sums for each warp of a group; the ring behind them is aligned
  /// to 128 bytes.
  static std::int64_t static_bytes(const Tiling& tiling) {
    const std::int64_t group = tiling.stages * 8 + 2 * (tiling.lanes / 32) * 4;
    return (tiling.groups * group + 127) / 128 * 128;
  }

  static std::optional<Refusal> validate(const Problem& problem, const Tiling& tiling,
                                         const DeviceInfo& device) {
    const auto [lanes, items, groups, stages, blocks] = tiling;
    if (lanes < 32 || lanes > 512 || (lanes & (lanes - 1)) != 0 || groups < 1 ||
        std::int64_t{lanes} * groups > 512) {
      return Refusal{fmt::format("{} groups of {} lanes are not powers of two of 32 to 512 threads",
                                 groups, lanes)};
    }
    const int vec = 128 / bits(problem.dtype);
    if (items < 1 || std::int64_t{lanes} * items * vec < problem.cols) {
      return Refusal{fmt::format("{} lanes of {} vectors of {} elements do not cover {} columns",
                                 lanes, items, vec, problem.cols)};
    }
    if (stages < 2 || stages > 8 || blocks < 1 || blocks > 8) {
      return Refusal{fmt::format("{} rows in flight and {} blocks: expected 2 to 8 and 1 to 8",
                                 stages, blocks)};
    }
    // A kibibyte a block is the system's.
    const std::int64_t smem = ring_bytes(problem, tiling) + static_bytes(tiling) + 1024;
    if (smem - 1024 > device.smem_per_block_optin || smem * blocks > device.smem_per_sm) {
      return Refusal{
          fmt::format("{} blocks of {} bytes of shared memory do not fit {} bytes a "
                      "multiprocessor, {} a block",
                      blocks, smem, device.smem_per_sm, device.smem_per_block_optin)};
    }
    const int threads = lanes * groups * blocks;
    const int registers = 40 + 3 * items * vec;
    if (threads > device.max_threads_per_sm || threads * registers > 65536) {
      return Refusal{fmt::format("{} threads of about {} registers do not fit a multiprocessor",
                                 threads, registers)};
    }
    return std::nullopt;
  }

  static std::int64_t badness(const Problem& problem, const Tiling& tiling) {
    const std::int64_t in_flight =
        tiling.groups * tiling.stages * tiling.blocks * stage_bytes(problem);
    return std::abs(in_flight - 128 * 1024) + 4096 * std::abs(tiling.items - 4) +
           1024 * std::abs(tiling.stages - 4) + 512 * tiling.groups;
  }

  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo& device) {
    Plan out;
    if (problem.rows == 0) return out;
    const int vec = 128 / bits(problem.dtype);
    const bool exact = std::int64_t{tiling.lanes} * tiling.items * vec == problem.cols;
    const std::int64_t wanted = (problem.rows + tiling.groups - 1) / tiling.groups;
    cuda::Launch launch;
    launch.grid.x = static_cast<std::uint32_t>(
        std::min<std::int64_t>(wanted, std::int64_t{device.sm_count} * tiling.blocks));
    launch.block.x = static_cast<std::uint32_t>(tiling.lanes * tiling.groups);
    launch.smem_bytes = static_cast<std::uint32_t>(ring_bytes(problem, tiling));
    launch.pdl = true;
    LaunchStage stage = launch_stage<RmsNorm::Args, Params>(
        "bulk_v1", "ops/norm/rms_norm/sm90/bulk_v1.cu",
        jit::instantiate("einkorn::rms_norm::sm90::bulk_v1",
                         {traits(problem), vec, tiling.lanes, tiling.items, tiling.groups,
                          tiling.stages, tiling.blocks, exact}),
        launch, make_params(problem), bind);
    stage.needs = {.registers = registers_under_bounds(tiling.lanes * tiling.groups, tiling.blocks),
                   .static_smem = static_bytes(tiling)};
    out.stages.emplace_back(std::move(stage));
    return out;
  }
};

extern const Variant bulk_v1;
constexpr Variant bulk_v1 = make_variant<RmsNorm, BulkV1>(
    "sm90", "bulk", 1, "cuda",
    "persistent groups of warps over rings of rows filled by bulk copies");

}  // namespace einkorn::rms_norm::sm90
