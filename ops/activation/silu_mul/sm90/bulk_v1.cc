// Host side of silu_mul/sm90/bulk_v1; the idea is told in bulk_v1.cu.

#include <algorithm>

#include <einkorn/expression.h>
#include <fmt/format.h>

#include "ops/activation/silu_mul/contract.h"
#include "ops/activation/silu_mul/launch.h"

namespace einkorn::silu_mul::sm90 {

struct BulkV1 {
  using Problem = SiluMul::Problem;

  static constexpr bool kBatchInvariant = true;  // element by element

  struct Tiling {
    int warps = 8;   ///< warps a block
    int items = 4;   ///< vectors a lane and tile
    int stages = 4;  ///< tiles a warp has in flight
    int blocks = 1;  ///< blocks a multiprocessor

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("warps", &Tiling::warps, "warps a block"),
                        field("items", &Tiling::items, "vectors a lane and tile"),
                        field("stages", &Tiling::stages, "tiles in flight a warp"),
                        field("blocks", &Tiling::blocks, "blocks a multiprocessor")};
    }
  };

  /// Bytes of a tile of one input: 16 for each lane and item.
  static int tile_bytes(const Tiling& tiling) { return 32 * tiling.items * 16; }
  static int smem_bytes(const Tiling& tiling) {
    return tiling.warps * tiling.stages * 2 * tile_bytes(tiling);
  }

  static std::optional<Refusal> supports(const Problem& problem, const DeviceInfo&) {
    if (problem.packing == SiluMul::Packing::kInterleaved) {
      return Refusal{"packing interleaved: gate and up have to be apart in memory"};
    }
    if (problem.align < 16) {
      return Refusal{
          fmt::format("align {} < 16: bulk copies move multiples of 16 bytes", problem.align)};
    }
    if (vector_width(problem) * bits(problem.dtype) != 128) {
      return Refusal{fmt::format("a row of {} {} elements is not a multiple of 16 bytes",
                                 extent(problem).cols, name(problem.dtype))};
    }
    return std::nullopt;
  }

  static std::int64_t static_bytes(const Tiling& tiling) {
    // A barrier each; the ring behind them is aligned to 128 bytes.
    return (std::int64_t{tiling.warps} * tiling.stages * 8 + 127) / 128 * 128;
  }

  static std::optional<Refusal> validate(const Problem&, const Tiling& tiling,
                                         const DeviceInfo& device) {
    const auto [warps, items, stages, blocks] = tiling;
    if (warps < 1 || blocks < 1 || warps * std::int64_t{blocks} * 32 > device.max_threads_per_sm ||
        warps > 32) {
      return Refusal{fmt::format("{} blocks of {} warps are not 1 to {} threads a multiprocessor",
                                 blocks, warps, device.max_threads_per_sm)};
    }
    if (items < 1 || items > 8 || stages < 2 || stages > 8) {
      return Refusal{
          fmt::format("{} vectors a lane and {} tiles in flight: expected 1 to 8 and 2 "
                      "to 8",
                      items, stages)};
    }
    // A kibibyte a block is the system's.
    const std::int64_t smem = smem_bytes(tiling) + static_bytes(tiling) + 1024;
    if (smem - 1024 > device.smem_per_block_optin || smem * blocks > device.smem_per_sm) {
      return Refusal{
          fmt::format("{} blocks of {} bytes of shared memory do not fit {} bytes a "
                      "multiprocessor, {} a block",
                      blocks, smem, device.smem_per_sm, device.smem_per_block_optin)};
    }
    return std::nullopt;
  }

  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo& device) {
    std::vector<Tiling> out;
    for (const int items : {4, 2, 1}) {
      for (const int warps : {8, 4, 16}) {
        for (const int stages : {2, 3, 4, 6}) {
          for (const int blocks : {1, 2, 4}) {
            const Tiling tiling{warps, items, stages, blocks};
            const int warps_in_all = warps * blocks;
            if (validate(problem, tiling, device)) continue;
            if (warps_in_all < 8 || warps_in_all > 32) continue;
            out.push_back(tiling);
          }
        }
      }
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const Tiling& a, const Tiling& b) { return badness(a) < badness(b); });
    return out;
  }

  /// About 192 KB in flight in long tiles: measured on an H100, see the devlog.
  static int badness(const Tiling& tiling) {
    const int in_flight = smem_bytes(tiling) * tiling.blocks;
    return std::abs(in_flight - 192 * 1024) + 16384 * (4 - tiling.items) +
           1024 * (tiling.stages + tiling.blocks);
  }

  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo& device) {
    Plan out;
    if (problem.rows == 0) return out;
    const Extent size = extent(problem);
    const std::int64_t tile = tile_bytes(tiling) / (bits(problem.dtype) / 8);
    const std::int64_t tiles = size.rows * ((size.cols + tile - 1) / tile);
    cuda::Launch launch;
    launch.grid.x = static_cast<std::uint32_t>(std::min<std::int64_t>(
        (tiles + tiling.warps - 1) / tiling.warps, std::int64_t{device.sm_count} * tiling.blocks));
    launch.block.x = static_cast<std::uint32_t>(tiling.warps * 32);
    launch.smem_bytes = static_cast<std::uint32_t>(smem_bytes(tiling));
    launch.pdl = true;
    LaunchStage stage = launch_stage<SiluMul::Args, Params>(
        "bulk_v1", "ops/activation/silu_mul/sm90/bulk_v1.cu",
        jit::instantiate("einkorn::silu_mul::sm90::bulk_v1",
                         {traits(problem), 128 / bits(problem.dtype), tiling.warps, tiling.items,
                          tiling.stages}),
        launch, make_params(problem), bind);
    stage.needs = {.registers = registers_under_bounds(tiling.warps * 32),
                   .static_smem = static_bytes(tiling)};
    out.stages.emplace_back(std::move(stage));
    return out;
  }
};

extern const Variant bulk_v1;
constexpr Variant bulk_v1 = make_variant<SiluMul, BulkV1>(
    "sm90", "bulk", 1, "cuda", "persistent warps over rings of tiles filled by bulk copies");

}  // namespace einkorn::silu_mul::sm90
