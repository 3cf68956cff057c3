// Host side of silu_mul_bwd/smxx/flat_v1; the idea is told in flat_v1.cu.

#include <einkorn/expression.h>
#include <fmt/format.h>

#include "ops/activation/silu_mul_bwd/contract.h"
#include "ops/activation/silu_mul_bwd/launch.h"

namespace einkorn::silu_mul_bwd::smxx {

struct FlatV1 {
  using Problem = SiluMulBwd::Problem;

  // Each element by the same instructions, wherever it is. (No sum of products is left to the
  // compiler to contract or not.)
  static constexpr bool kBatchInvariant = true;

  struct Tiling {
    int threads = 256;
    int items = 1;  ///< vectors a thread has in flight of each input

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("threads", &Tiling::threads, "threads a block"),
                        field("items", &Tiling::items, "vectors a thread")};
    }
  };

  static std::int64_t blocks(const Problem& problem, const Tiling& tiling) {
    const Extent size = extent(problem);
    const std::int64_t piece = std::int64_t{tiling.threads} * tiling.items * vector_width(problem);
    return size.rows * ((size.cols + piece - 1) / piece);
  }

  static std::optional<Refusal> supports(const Problem& problem, const DeviceInfo& device) {
    if (!tilings(problem, device).empty()) return std::nullopt;
    return Refusal{fmt::format("rows {} and cols {} need more than 2147483647 blocks", problem.rows,
                               problem.cols)};
  }

  static std::optional<Refusal> validate(const Problem& problem, const Tiling& tiling,
                                         const DeviceInfo&) {
    if (tiling.threads < 32 || tiling.threads > 1024 || tiling.threads % 32 != 0) {
      return Refusal{fmt::format("threads {} is not a multiple of 32 up to 1024", tiling.threads)};
    }
    if (tiling.items < 1 || tiling.items > 4) {
      return Refusal{
          fmt::format("items {} is not 1 to 4, what a thread's registers hold", tiling.items)};
    }
    // Interleaved f32 and f16 pairs double what a vector takes: 12 registers an item at most, and
    // some 40 beside them, under the 64 of 1024 threads.
    if (tiling.threads > 512 && tiling.items > 1) {
      return Refusal{fmt::format("items {} > 1 with threads {} > 512: a thread has 64 registers",
                                 tiling.items, tiling.threads)};
    }
    const std::int64_t wanted = blocks(problem, tiling);
    if (wanted <= 0x7fffffff) return std::nullopt;
    return Refusal{fmt::format("{} blocks > 2147483647, the widest grid", wanted)};
  }

  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo& device) {
    std::vector<Tiling> out;
    const Extent size = extent(problem);
    const std::int64_t vectors = size.cols / vector_width(problem);
    for (const Tiling tiling : {Tiling{512, 1}, Tiling{256, 1}, Tiling{128, 1}, Tiling{256, 2},
                                Tiling{128, 2}, Tiling{256, 4}, Tiling{128, 4}}) {
      if (validate(problem, tiling, device)) continue;
      // A block wider than a row idles most of itself; a narrower one follows in the list.
      const bool wasteful = tiling.threads * tiling.items > 2 * vectors && tiling.threads > 128;
      if (!wasteful) out.push_back(tiling);
    }
    return out;
  }

  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo& device) {
    Plan out;
    if (problem.rows == 0) return out;
    cuda::Launch launch;
    launch.grid.x = static_cast<std::uint32_t>(blocks(problem, tiling));
    launch.block.x = static_cast<std::uint32_t>(tiling.threads);
    launch.pdl = device.cc >= 90;
    LaunchStage stage = launch_stage<SiluMulBwd::Args, Params>(
        "flat_v1", "ops/activation/silu_mul_bwd/smxx/flat_v1.cu",
        jit::instantiate(
            "einkorn::silu_mul_bwd::smxx::flat_v1",
            {traits(problem), vector_width(problem), problem.align, tiling.threads, tiling.items}),
        launch, make_params(problem), bind);
    stage.needs = {.registers = registers_under_bounds(tiling.threads), .static_smem = 0};
    out.stages.emplace_back(std::move(stage));
    return out;
  }
};

extern const Variant flat_v1;
constexpr Variant flat_v1 = make_variant<SiluMulBwd, FlatV1>(
    "smxx", "flat", 1, "cuda", "all of a thread's loads before its first use, any layout");

}  // namespace einkorn::silu_mul_bwd::smxx
