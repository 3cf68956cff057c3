// Host side of rms_norm/smxx/rows_v1; the idea is told in rows_v1.cu.

#include <algorithm>

#include <einkorn/expression.h>
#include <fmt/format.h>

#include "ops/launch.h"
#include "ops/norm/rms_norm/contract.h"
#include "ops/norm/rms_norm/launch.h"

namespace einkorn::rms_norm::smxx {

struct RowsV1 {
  using Problem = RmsNorm::Problem;

  struct Tiling {
    int lanes = 128;  ///< threads a row
    int items = 4;    ///< vectors a thread
    int rows = 1;     ///< rows a block

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("lanes", &Tiling::lanes, "threads a row"),
                        field("items", &Tiling::items, "vectors a thread"),
                        field("rows", &Tiling::rows, "rows a block")};
    }
  };

  /// Values that a thread keeps: f32 sums with a residual take twice the registers of raw 16 bits.
  static int max_elements(const Problem& problem, int lanes) {
    const bool wide = problem.residual.has_value() || bits(problem.dtype) == 32;
    return lanes > 512 || wide ? 32 : 64;
  }

  /// No more than the assembler takes, over all dtypes, roundings and shapes, for sm_80 to sm_100
  /// (tests/ops/compile_test.cc): addresses and scalars, the elements and their scales, and a
  /// bound for each piece of a row that they do not cover exactly.
  static int registers(const Problem& problem, const Tiling& tiling) {
    const bool wide = problem.residual.has_value() || bits(problem.dtype) == 32;
    const int needed =
        56 + (wide ? 5 : 4) * tiling.items * vector_width(problem) / 2 + 5 * tiling.items / 4;
    return std::min(needed, registers_under_bounds(tiling.lanes * tiling.rows));
  }

  static std::optional<Refusal> supports(const Problem& problem, const DeviceInfo& device) {
    if (problem.rows > cuda::kMaxBlocks) {
      return Refusal{fmt::format("rows {} > {}, the widest grid", problem.rows, cuda::kMaxBlocks)};
    }
    if (!tilings(problem, device).empty()) return std::nullopt;
    return Refusal{
        fmt::format("cols {} needs more than {} registers a thread (1024 threads, {} "
                    "elements a vector)",
                    problem.cols, max_elements(problem, 1024), vector_width(problem))};
  }

  static int vectors(const Problem& problem) {
    return static_cast<int>(problem.cols / vector_width(problem));
  }

  static std::optional<Refusal> validate(const Problem& problem, const Tiling& tiling,
                                         const DeviceInfo&) {
    const auto [lanes, items, rows] = tiling;
    if (lanes < 32 || lanes > 1024 || (lanes & (lanes - 1)) != 0) {
      return Refusal{fmt::format("lanes {} is not a power of two from 32 to 1024", lanes)};
    }
    if (rows < 1 || lanes * std::int64_t{rows} > 1024) {
      return Refusal{
          fmt::format("{} rows of {} lanes are not 1 to 1024 threads a block", rows, lanes)};
    }
    const std::int64_t covered = std::int64_t{lanes} * items;
    if (items < 1 || covered < vectors(problem)) {
      return Refusal{fmt::format("{} lanes of {} vectors of {} elements do not cover {} columns",
                                 lanes, items, vector_width(problem), problem.cols)};
    }
    const int elements = items * vector_width(problem);
    if (elements > max_elements(problem, lanes)) {
      return Refusal{fmt::format("{} elements a thread > {}, what its registers hold", elements,
                                 max_elements(problem, lanes))};
    }
    return std::nullopt;
  }

  /// Every row shape that covers cols, the heuristic's first.
  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo& device) {
    const bool few_rows = problem.rows < 2 * std::int64_t{device.sm_count};
    std::vector<Tiling> out;
    for (int lanes = 32; lanes <= 1024; lanes *= 2) {
      int items = 1;
      while (lanes * items < vectors(problem)) items *= 2;
      const Tiling one{.lanes = lanes, .items = items, .rows = 1};
      if (validate(problem, one, device)) continue;
      if (lanes > 32 && lanes / 2 >= vectors(problem)) continue;  // half the threads would idle
      const int rows = std::max(1, 256 / lanes);
      out.push_back({.lanes = lanes, .items = items, .rows = lanes <= 64 && !few_rows ? rows : 1});
      if (rows >= 4) out.push_back({.lanes = lanes, .items = items, .rows = rows / 2});
    }
    std::ranges::stable_sort(out, {},
                             [&](const Tiling& tiling) { return rank(problem, tiling, few_rows); });
    return out;
  }

  /// Many rows: one vector a thread up to 256 threads, then two, then more, since a block hides the
  /// latency of another one; a block of 1024 threads leaves no room for others. A vector of 16
  /// bits with its residual counts as two. Few rows: whatever takes the fewest steps. Measured on
  /// an H100: docs/devlog.
  static int rank(const Problem& problem, const Tiling& tiling, bool few_rows) {
    if (few_rows) return tiling.items;
    if (tiling.lanes == 1024) return 100;
    const bool pairs =
        bits(problem.dtype) == 16 && problem.residual.has_value() && bits(*problem.residual) == 16;
    if (tiling.items == 1) return tiling.lanes <= (pairs ? 512 : 256) ? 0 : 2;
    return tiling.items == 2 ? 1 : tiling.items;
  }

  /// The most blocks that the device holds at once.
  static std::uint32_t resident_blocks(const DeviceInfo& device, std::uint32_t threads) {
    return static_cast<std::uint32_t>(device.sm_count) *
           (static_cast<std::uint32_t>(device.max_threads_per_sm) / threads);
  }

  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo& device) {
    Plan out;
    if (problem.rows == 0) return out;
    const int vec = vector_width(problem);
    const bool exact = std::int64_t{tiling.lanes} * tiling.items * vec == problem.cols;
    const cuda::Launch launch = cuda::line_of_blocks((problem.rows + tiling.rows - 1) / tiling.rows,
                                                     tiling.lanes * tiling.rows, device);
    Params params = make_params(problem);
    if (launch.pdl) params.early_blocks = resident_blocks(device, launch.block.x);
    LaunchStage stage = launch_stage<RmsNorm::Args, Params>(
        "rows_v1", "ops/norm/rms_norm/smxx/rows_v1.cu",
        jit::instantiate(
            "einkorn::rms_norm::smxx::rows_v1",
            {traits(problem), vec, problem.align, tiling.lanes, tiling.items, tiling.rows, exact}),
        launch, params, bind);
    const auto threads = static_cast<int>(launch.block.x);
    stage.needs = {.registers = registers(problem, tiling),
                   .static_smem = (threads + 31) / 32 * std::int64_t{sizeof(float)}};
    out.stages.emplace_back(std::move(stage));
    return out;
  }
};

extern const Variant rows_v1;
constexpr Variant rows_v1 = make_variant<RmsNorm, RowsV1>(
    "smxx", "rows", 1, "cuda",
    "a row in the registers of 32 to 1024 threads, one pass over memory");

}  // namespace einkorn::rms_norm::smxx
