// Host side of rms_norm_bwd/smxx/rows_v1; the idea is told in rows_v1.cu.

#include <algorithm>
#include <optional>
#include <vector>

#include <einkorn/expression.h>
#include <fmt/format.h>

#include "ops/launch.h"
#include "ops/norm/rms_norm_bwd/contract.h"
#include "ops/norm/rms_norm_bwd/launch.h"

namespace einkorn::rms_norm_bwd::smxx {

struct RowsV1 {
  using Problem = RmsNormBwd::Problem;

  static constexpr const char* kFile = "ops/norm/rms_norm_bwd/smxx/rows_v1.cu";
  static constexpr std::int64_t kMaxSmem = 48 * 1024;  // static, a block
  static constexpr int kMaxElements = 32;              // of a row, a thread

  /// dx of a row does not depend on other rows, since how a row is shared out follows from its
  /// length alone; dweight is over all of them by its meaning.
  static constexpr bool kBatchInvariant = true;

  struct Tiling {
    int lanes = 128;    ///< threads a row
    int items = 4;      ///< vectors a thread
    int rows = 1;       ///< rows a block at a time
    int blocks = 3;     ///< blocks that stay on each multiprocessor
    bool ahead = true;  ///< a row's loads begin before the row before it is summed

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{
          field("lanes", &Tiling::lanes, "threads a row"),
          field("items", &Tiling::items, "vectors a thread"),
          field("rows", &Tiling::rows, "rows a block at a time"),
          field("blocks", &Tiling::blocks, "blocks that stay on a multiprocessor"),
          field("ahead", &Tiling::ahead, "load the next row before summing this one")};
    }
  };

  static int threads(const Tiling& tiling) { return tiling.lanes * tiling.rows; }

  /// Registers a thread that the assembler gets by with, over all dtypes, roundings and shapes, for
  /// sm_80 to sm_100 (tests/ops/compile_test.cc): addresses and scalars; for an element its sum,
  /// the raw values of one row or two, and what they become on the way. Fitted to NVRTC 13.0.
  /// Alignment is left out on purpose: one row alone may have another than many, and its tiling
  /// must not differ.
  static int registers(const Problem& problem, const Tiling& tiling) {
    const int vec = vector_width(problem);
    const int elements = tiling.items * vec;
    const auto raw = [vec](std::optional<DType> dtype) {
      return dtype ? std::max(bits(*dtype), 32 / vec) : 0;
    };
    const int of_row = 2 * raw(problem.dtype) + raw(problem.residual);
    const int element_bits =
        (problem.dweight ? 32 : 0) + raw(problem.weight) + of_row * (tiling.ahead ? 2 : 1);
    int extra = vec < 4 ? tiling.items : 0;  // bounds
    if (problem.residual) extra += elements * 5 / 8 + 5;
    // Neither has more values alive; the assembler schedules them so.
    if (tiling.rows > 1) extra += elements * 5 / 4;
    if (!tiling.ahead) extra += elements * 5 / 4;
    return std::max(72, 31 + elements * 5 / 8 + extra + element_bits * elements / 32);
  }

  /// Bytes of shared memory: warps' sums twice, and where rows are side by side one row of dweight.
  static std::int64_t shared_bytes(const Problem& problem, const Tiling& tiling) {
    const int warps = (threads(tiling) + 31) / 32;
    const bool together = problem.dweight && tiling.rows > 1;
    const int row = together ? tiling.lanes * tiling.items * vector_width(problem) : 1;
    // The second array may begin at a multiple of 16.
    return 2 * warps * 2 * std::int64_t{sizeof(float)} + 16 + row * std::int64_t{sizeof(float)};
  }

  static std::optional<Refusal> supports(const Problem& problem, const DeviceInfo& device) {
    if (!tilings(problem, device).empty()) return std::nullopt;
    return Refusal{fmt::format(
        "cols {} needs more than {} elements a thread, or more registers than 1024 threads have "
        "({} elements a vector)",
        problem.cols, kMaxElements, vector_width(problem))};
  }

  static std::optional<Refusal> validate(const Problem& problem, const Tiling& tiling,
                                         const DeviceInfo& device) {
    const auto [lanes, items, rows, blocks, ahead] = tiling;
    if (lanes < 8 || lanes > 1024 || (lanes & (lanes - 1)) != 0) {
      return Refusal{fmt::format("lanes {} is not a power of two from 8 to 1024", lanes)};
    }
    if (rows < 1 || lanes * std::int64_t{rows} > 1024 || lanes * rows % 32 != 0) {
      return Refusal{fmt::format("{} rows of {} lanes are not 1 to 32 whole warps", rows, lanes)};
    }
    if (blocks < 1 || std::int64_t{blocks} * lanes * rows > device.max_threads_per_sm) {
      return Refusal{fmt::format("{} blocks of {} threads are not 1 to {} threads", blocks,
                                 lanes * rows, device.max_threads_per_sm)};
    }
    if (items < 1 || std::int64_t{lanes} * items < vectors(problem)) {
      return Refusal{fmt::format("{} lanes of {} vectors of {} elements do not cover {} columns",
                                 lanes, items, vector_width(problem), problem.cols)};
    }
    if (std::int64_t{items} * vector_width(problem) > kMaxElements) {
      return Refusal{fmt::format("{} vectors of {} elements > {}, what a thread's registers hold",
                                 items, vector_width(problem), kMaxElements)};
    }
    if (shared_bytes(problem, tiling) > kMaxSmem) {
      return Refusal{
          fmt::format("{} bytes of shared memory > {}", shared_bytes(problem, tiling), kMaxSmem)};
    }
    const int limit = registers_under_bounds(lanes * rows, blocks);
    if (registers(problem, tiling) > limit) {
      return Refusal{fmt::format("{} registers a thread > {}, what {} blocks of {} threads leave",
                                 registers(problem, tiling), limit, blocks, lanes * rows)};
    }
    return std::nullopt;
  }

  /// Bytes of inputs that a multiprocessor has asked for at a time, on average; without `ahead` a
  /// block waits for its sums half of the time.
  static double in_flight(const Problem& problem, const Tiling& tiling) {
    const double bytes = static_cast<double>(threads(tiling)) * tiling.blocks * tiling.items *
                         vector_width(problem) * input_bits(problem) / 8;
    return tiling.ahead ? bytes : bytes / 2;
  }

  /// `shape` with the most blocks that fit, at most 8: each writes a row of partial sums. None fit:
  /// nothing.
  static std::optional<Tiling> filled(const Problem& problem, Tiling shape,
                                      const DeviceInfo& device) {
    for (shape.blocks = 8; shape.blocks >= 1; --shape.blocks) {
      if (!validate(problem, shape, device)) return shape;
    }
    return std::nullopt;
  }

  /// Every row shape that covers cols, the heuristic's first. How many rows there are decides rows,
  /// blocks and ahead only, none of which changes a row's bits.
  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo& device) {
    std::vector<Tiling> out;
    for (int lanes = 8; lanes <= 1024; lanes *= 2) {
      if (lanes > 8 && lanes / 2 >= vectors(problem)) break;  // half the threads would idle
      Tiling shape{.lanes = lanes, .items = 1, .rows = std::max(1, 128 / lanes)};
      while (lanes * shape.items < vectors(problem)) shape.items *= 2;
      for (const bool ahead : {true, false}) {
        shape.ahead = ahead;
        if (const auto tiling = filled(problem, shape, device)) out.push_back(*tiling);
      }
    }
    // Where enough is in flight, fewer partial sums are better, where less is, more threads are:
    // 62.2 for 69.6 us at 16384 x 2048, 267.7 for 276.9 at 16384 x 8192 bf16 (H200).
    std::ranges::stable_sort(out, [&](const Tiling& a, const Tiling& b) {
      const double a_bytes = std::min(in_flight(problem, a), kEnoughInFlight);
      const double b_bytes = std::min(in_flight(problem, b), kEnoughInFlight);
      if (a_bytes != b_bytes) return a_bytes > b_bytes;
      const int a_threads = threads(a) * a.blocks;
      const int b_threads = threads(b) * b.blocks;
      if (a_bytes < kEnoughInFlight && a_threads != b_threads) return a_threads > b_threads;
      return a.blocks < b.blocks;
    });
    return out;
  }

  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo& device) {
    const std::int64_t units = (problem.rows + tiling.rows - 1) / tiling.rows;
    const std::int64_t blocks = staying_blocks(units, tiling.blocks, device);
    return staying_plan(kFile, problem, blocks, device, [&](const Params& params) {
      return rows_stage(problem, tiling, params, device);
    });
  }

  static LaunchStage rows_stage(const Problem& problem, const Tiling& tiling, const Params& params,
                                const DeviceInfo& device) {
    const int vec = vector_width(problem);
    const bool exact = std::int64_t{tiling.lanes} * tiling.items * vec == problem.cols;
    const cuda::Launch launch = cuda::line_of_blocks(params.partial_rows, threads(tiling), device);
    LaunchStage stage = launch_stage<RmsNormBwd::Args, Params>(
        "rows_v1", kFile,
        jit::instantiate("einkorn::rms_norm_bwd::smxx::rows_v1",
                         {traits(problem), vec, problem.align, tiling.lanes, tiling.items,
                          tiling.rows, tiling.blocks, tiling.ahead, exact}),
        launch, params, bind);
    stage.cost = gradient_cost(problem, params);
    stage.needs = {.registers = registers_under_bounds(threads(tiling), tiling.blocks),
                   .static_smem = shared_bytes(problem, tiling)};
    return stage;
  }
};

extern const Variant rows_v1;
constexpr Variant rows_v1 = make_variant<RmsNormBwd, RowsV1>(
    "smxx", "rows", 1, "cuda",
    "rows in the registers of blocks that stay and carry dweight; one pass over memory");

}  // namespace einkorn::rms_norm_bwd::smxx
