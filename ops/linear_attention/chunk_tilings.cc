// What the variants on chunks serve, and with what tilings.

#include <algorithm>

#include <fmt/format.h>

#include "ops/linear_attention/chunk_plan.h"

namespace einkorn::linear_attention {
namespace {

/// Blocks of the recurrence by wgmma for a value head.
constexpr int kHalves = 2;
/// Chunks of a slice, below which starting it costs more than it hides, beside few blocks of the
/// recurrence and beside many; and slices, above which nothing more is won
/// (docs/devlog/20261128-linear_attention.md).
constexpr std::int64_t kShortSlice = 32;
constexpr std::int64_t kLongSlice = 128;
constexpr std::int64_t kMostSlices = 8;

/// A stage of the recurrence by mma, bytes: a record, and 64 tokens of V.
constexpr std::int64_t kMmaStage = Record::kBytes + 2 * kChunkTokens * kChunkDim;
/// Shared memory that static arrays may take beside it, bytes.
constexpr std::int64_t kSystemSmem = 1024;

/// Whether sequences can be gone through slice by slice: they are of one length, and run whole.
bool may_slice(const PrefillProblem& problem) { return problem.seqs == 0 && problem.segment == 0; }

}  // namespace

std::optional<Refusal> ChunkWgmma::supports(const PrefillProblem& problem, const DeviceInfo&) {
  return refuse_chunks(problem);
}

std::optional<Refusal> ChunkWgmma::validate(const PrefillProblem& problem, const Tiling& tiling,
                                            const DeviceInfo&) {
  if (tiling.resident < 1 || tiling.resident > 4) {
    return Refusal{fmt::format("resident {} is not 1 to 4", tiling.resident)};
  }
  if (tiling.slices < 1) return Refusal{fmt::format("slices {} < 1", tiling.slices)};
  if (tiling.slices > 1 && !may_slice(problem)) {
    return Refusal{fmt::format("slices {} > 1 of {} sequences", tiling.slices,
                               problem.seqs > 0 ? "packed" : "cut")};
  }
  return std::nullopt;
}

ChunkWgmma::Tiling ChunkWgmma::heuristic(const PrefillProblem& problem, const DeviceInfo& device) {
  if (!may_slice(problem)) return {};
  const std::int64_t chunks = chunks_of(problem.tokens);
  const std::int64_t blocks = kHalves * problem.value_heads * problem.batch;
  // Two slices overlap at their ends alone where the recurrence fills the device.
  if (2 * blocks > device.sm_count) return {.slices = chunks < kLongSlice ? 1 : 2};
  // Where it fills half, both take longer than alone, which only long slices win back.
  const std::int64_t shortest = 4 * blocks > device.sm_count ? kLongSlice : kShortSlice;
  const auto slices = static_cast<int>(std::min(chunks / shortest, kMostSlices));
  if (slices < 2) return {};
  // Fewer preparing blocks: they take bandwidth from the chain, which waits for its records.
  return {.resident = 2, .slices = slices};
}

std::vector<ChunkWgmma::Tiling> ChunkWgmma::tilings(const PrefillProblem& problem,
                                                    const DeviceInfo& device) {
  const Tiling best = heuristic(problem, device);
  std::vector<Tiling> out = {best};
  const auto add = [&](const Tiling& one) {
    if (std::ranges::find(out, one) == out.end()) out.push_back(one);
  };
  if (best.slices > 1) {
    for (const int slices : {best.slices, 2 * best.slices}) {
      for (const int resident : {2, 3}) add({.resident = resident, .slices = slices});
    }
  }
  for (const int resident : {3, 2}) add({.resident = resident});
  return out;
}

std::vector<ChunkWgmma::Tiling> ChunkWgmma::head_tilings(const PrefillProblem& problem,
                                                         const DeviceInfo& device) {
  std::vector<Tiling> out = {{.resident = 4}, {.resident = 3}};
  if (const int slices = heuristic(problem, device).slices; slices > 1) {
    out.push_back({.resident = 2, .slices = slices});
  }
  return out;
}

ChunkKernels ChunkWgmma::kernels(const char* file, const char* name, const Tiling& tiling) {
  return {.file = file,
          .name = name,
          .resident = tiling.resident,
          .stages = 3,
          .slices = tiling.slices,
          .halves = kHalves,
          .threads = 192,
          .smem = 232448};
}

ChunkKernels ChunkWgmma::head_kernels(const char* file, const char* name, const Tiling& tiling) {
  ChunkKernels out = kernels(file, name, tiling);
  out.threads = kHeadRecurrenceThreads;
  out.smem = kHeadRecurrenceSmem;
  out.head_record = true;
  return out;
}

std::optional<Refusal> ChunkMma::supports(const PrefillProblem& problem, const DeviceInfo& device) {
  if (auto refusal = refuse_chunks(problem)) return refusal;
  if (!tilings(problem, device).empty()) return std::nullopt;
  return validate(problem, {.resident = 1, .stages = 1}, device);
}

std::optional<Refusal> ChunkMma::validate(const PrefillProblem&, const Tiling& tiling,
                                          const DeviceInfo& device) {
  if (tiling.resident < 1 || tiling.resident > 2) {
    return Refusal{fmt::format("resident {} is neither 1 nor 2", tiling.resident)};
  }
  if (tiling.stages < 1 || tiling.stages > 2) {
    return Refusal{fmt::format("stages {} is neither 1 nor 2", tiling.stages)};
  }
  const std::int64_t most = device.smem_per_block_optin - kSystemSmem;
  const std::int64_t needed = tiling.stages * kMmaStage;
  if (needed <= most) return std::nullopt;
  return Refusal{fmt::format("{} bytes of shared memory > {}", needed, most)};
}

std::vector<ChunkMma::Tiling> ChunkMma::tilings(const PrefillProblem& problem,
                                                const DeviceInfo& device) {
  std::vector<Tiling> out;
  for (const int stages : {2, 1}) {
    for (const int resident : {2, 1}) {
      const Tiling one{.resident = resident, .stages = stages};
      if (!validate(problem, one, device)) out.push_back(one);
    }
  }
  return out;
}

ChunkKernels ChunkMma::kernels(const char* file, const char* name, const Tiling& tiling,
                               const DeviceInfo& device) {
  return {.file = file,
          .name = name,
          .resident = tiling.resident,
          .stages = tiling.stages,
          .halves = 1,
          .threads = 256,
          .smem = static_cast<std::uint32_t>(tiling.stages * kMmaStage),
          .static_smem = 128,
          .pdl = device.cc >= 90};
}

}  // namespace einkorn::linear_attention
