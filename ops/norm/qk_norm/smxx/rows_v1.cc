// Host side of qk_norm/smxx/rows_v1; the idea is told in rows_v1.cu.

#include <algorithm>

#include <einkorn/expression.h>
#include <fmt/format.h>

#include "ops/launch.h"
#include "ops/norm/qk_norm/contract.h"
#include "ops/norm/qk_norm/launch.h"

namespace einkorn::qk_norm::smxx {

struct RowsV1 {
  using Problem = QkNorm::Problem;

  struct Tiling {
    int lanes = 16;     ///< threads a head
    int items = 1;      ///< vectors a thread
    int threads = 256;  ///< a block

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("lanes", &Tiling::lanes, "threads a head"),
                        field("items", &Tiling::items, "vectors a thread"),
                        field("threads", &Tiling::threads, "threads a block")};
    }
  };

  static constexpr int kMaxElements = 32;  ///< of a thread; 32 lanes then cover the widest head
  static_assert(32 * kMaxElements >= QkNorm::kMaxCols);

  static std::int64_t heads(const Problem& problem) { return problem.q_heads + problem.k_heads; }

  static std::int64_t blocks(const Problem& problem, const Tiling& tiling) {
    const std::int64_t heads_a_block = tiling.threads / tiling.lanes;
    return (problem.rows * heads(problem) + heads_a_block - 1) / heads_a_block;
  }

  /// No more than the assembler takes, over all dtypes, roundings and shapes, for sm_80 to sm_100
  /// (tests/ops/compile_test.cc): addresses and scalars, the elements and their scales, and a
  /// bound for each piece of a head that they do not cover exactly.
  static int registers(const Problem& problem, const Tiling& tiling) {
    const int elements = tiling.items * vector_width(problem);
    return 40 + (bits(problem.dtype) == 32 ? 3 : 2) * elements + 2 * tiling.items;
  }

  static std::optional<Refusal> supports(const Problem& problem, const DeviceInfo& device) {
    if (!tilings(problem, device).empty()) return std::nullopt;
    return Refusal{fmt::format("{} rows of {} heads need more than {} blocks", problem.rows,
                               heads(problem), cuda::kMaxBlocks)};
  }

  static int vectors(const Problem& problem) {
    return static_cast<int>(problem.cols / vector_width(problem));
  }

  static std::optional<Refusal> validate(const Problem& problem, const Tiling& tiling,
                                         const DeviceInfo&) {
    const auto [lanes, items, threads] = tiling;
    if (lanes < 1 || lanes > 32 || (lanes & (lanes - 1)) != 0) {
      return Refusal{fmt::format("lanes {} is not a power of two from 1 to 32", lanes)};
    }
    if (auto refusal = cuda::refuse_threads(threads)) return refusal;
    if (items < 1 || std::int64_t{lanes} * items < vectors(problem)) {
      return Refusal{fmt::format("{} lanes of {} vectors of {} elements do not cover {} columns",
                                 lanes, items, vector_width(problem), problem.cols)};
    }
    // Fewer lanes than a warp's are for coarse pieces; of many small ones the assembler spills the
    // bounds.
    if (items * std::int64_t{vector_width(problem)} > kMaxElements || (lanes < 32 && items > 8)) {
      return Refusal{
          fmt::format("{} vectors of {} elements for each of {} lanes are more than {} "
                      "elements, or more than 8 vectors with less than 32 lanes",
                      items, vector_width(problem), lanes, kMaxElements)};
    }
    const int needed = registers(problem, tiling);
    if (needed > registers_under_bounds(threads)) {
      return Refusal{fmt::format("{} registers a thread > {}, what a block of {} threads has",
                                 needed, registers_under_bounds(threads), threads)};
    }
    const std::int64_t wanted = blocks(problem, tiling);
    if (wanted <= cuda::kMaxBlocks) return std::nullopt;
    return Refusal{fmt::format("{} blocks > {}, the widest grid", wanted, cuda::kMaxBlocks)};
  }

  /// Every shape that covers a head, the heuristic's first: as few vectors a thread as can be, in
  /// blocks of 256 threads.
  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo& device) {
    std::vector<Tiling> out;
    for (int lanes = 32; lanes >= 1; lanes /= 2) {
      const int items = (vectors(problem) + lanes - 1) / lanes;
      if (lanes > 1 && lanes / 2 >= vectors(problem)) continue;  // half the threads would idle
      for (const int threads : {256, 128, 512}) {
        const Tiling one{.lanes = lanes, .items = items, .threads = threads};
        if (!validate(problem, one, device)) out.push_back(one);
      }
    }
    return out;
  }

  /// The most blocks that the device holds at once.
  static std::uint32_t resident_blocks(const DeviceInfo& device, int threads) {
    return static_cast<std::uint32_t>(device.sm_count * (device.max_threads_per_sm / threads));
  }

  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo& device) {
    Plan out;
    if (problem.rows == 0) return out;
    const int vec = vector_width(problem);
    const bool exact = std::int64_t{tiling.lanes} * tiling.items * vec == problem.cols;
    const cuda::Launch launch =
        cuda::line_of_blocks(blocks(problem, tiling), tiling.threads, device);
    Params params = make_params(problem);
    if (launch.pdl) params.early_blocks = resident_blocks(device, tiling.threads);
    LaunchStage stage = launch_stage<QkNorm::Args, Params>(
        "rows_v1", "ops/norm/qk_norm/smxx/rows_v1.cu",
        jit::instantiate("einkorn::qk_norm::smxx::rows_v1",
                         {traits(problem), vec, problem.align, tiling.lanes, tiling.items,
                          tiling.threads, static_cast<int>(heads(problem)), exact}),
        launch, params, bind);
    stage.needs = {.registers = registers(problem, tiling), .static_smem = 0};
    out.stages.emplace_back(std::move(stage));
    return out;
  }
};

extern const Variant rows_v1;
constexpr Variant rows_v1 = make_variant<QkNorm, RowsV1>(
    "smxx", "rows", 1, "cuda", "a head in the registers of 1 to 32 lanes, q and k in one launch");

}  // namespace einkorn::qk_norm::smxx
