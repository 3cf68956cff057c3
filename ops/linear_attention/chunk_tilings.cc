// What the variants on chunks serve, and with what tilings.

#include <algorithm>

#include <fmt/format.h>

#include "ops/linear_attention/chunk_plan.h"

namespace einkorn::linear_attention {
namespace {

/// Chunks of a slice, below which starting it costs more than it hides: beside few blocks of the
/// recurrence, beside up to half a device of them, and beside more; and slices, above which nothing
/// more is won (docs/devlog/20261128-linear_attention.md).
constexpr std::int64_t kShortSlice = 32;
constexpr std::int64_t kSlice = 64;
constexpr std::int64_t kLongSlice = 128;
constexpr std::int64_t kMostSlices = 8;
/// Preparing blocks on a multiprocessor, 64 registers a thread, that fit where the copy engine
/// brings what they read. It starts later than threads' own copies, so there have to be many.
constexpr int kMappedResident = 4;
constexpr std::int64_t kManyPrepared = 32;  // on each multiprocessor, one after the other
/// What a step of both halves in one block takes, in steps of a block for each.
constexpr double kBothHalves = 1.5;
/// Of a tuner's slices the shortest, in chunks.
constexpr std::int64_t kShortestSlice = 8;

/// Steps until the last block of the recurrence ends, of `blocks` for a value head of a sequence:
/// in waves where all have as many steps, else by the longest chain and by the multiprocessors'
/// work.
double recurrence_steps(const PrefillProblem& problem, std::int64_t blocks,
                        const DeviceInfo& device) {
  const ChunkSizes sizes(problem);
  const std::int64_t heads = blocks * problem.value_heads;
  if (problem.seqs == 0) {
    const std::int64_t waves = ceil_div(sizes.sequences * heads, device.sm_count);
    return static_cast<double>(waves * sizes.segment_chunks);
  }
  return std::max(static_cast<double>(sizes.segment_chunks),
                  static_cast<double>(sizes.chunks * heads) / device.sm_count);
}

/// A stage of the recurrence by mma, bytes: a record, and 64 tokens of V.
constexpr std::int64_t kMmaStage = Record::kBytes + 2 * kChunkTokens * kChunkDim;
/// Shared memory that static arrays may take beside it, bytes.
constexpr std::int64_t kSystemSmem = 1024;

/// Whether sequences can be gone through slice by slice: they are of one length, and run whole.
bool may_slice(const PrefillProblem& problem) { return problem.seqs == 0 && problem.segment == 0; }

/// Whether kMappedResident blocks fit: gates without a bound take more registers, those in f32
/// more shared memory; without l2norm ptxas spills one register.
bool may_map(const PrefillProblem& problem) {
  return problem.gate == Gate::kLowerBound && bits(problem.gate_dtype) == 16 && problem.l2norm;
}

/// Preparing blocks on a multiprocessor with nothing beside them.
int resident_alone(const PrefillProblem& problem, const DeviceInfo& device) {
  const std::int64_t blocks = ChunkSizes(problem).chunks * problem.value_heads;
  const bool many = blocks >= kManyPrepared * device.sm_count;
  return many && may_map(problem) ? kMappedResident : ChunkWgmma::Tiling{}.resident;
}

/// All that differ, the heuristic's first.
std::vector<ChunkWgmma::Tiling> all_tilings(const PrefillProblem& problem,
                                            const ChunkWgmma::Tiling& best,
                                            std::initializer_list<int> residents,
                                            const std::vector<int>& halves) {
  std::vector<ChunkWgmma::Tiling> out = {best};
  const auto add = [&](int slices, int growth) {
    for (const int half : halves) {
      for (const int resident : residents) {
        const ChunkWgmma::Tiling one{
            .resident = resident, .halves = half, .slices = slices, .growth = growth};
        if (one != best) out.push_back(one);
      }
    }
  };
  add(1, 100);
  if (!may_slice(problem)) return out;
  for (int slices = 2; chunks_of(problem.tokens) / slices >= kShortestSlice && slices <= 16;
       slices *= 2) {
    add(slices, 100);
    add(slices, 150);
  }
  return out;
}

}  // namespace

std::optional<Refusal> ChunkWgmma::supports(const PrefillProblem& problem, const DeviceInfo&) {
  return refuse_chunks(problem);
}

std::optional<Refusal> ChunkWgmma::validate(const PrefillProblem& problem, const Tiling& tiling,
                                            const DeviceInfo&) {
  if (tiling.resident == kMappedResident && !may_map(problem)) {
    return Refusal{
        fmt::format("resident {} of gate {} in {}, l2norm {}: only lower_bound in 16 "
                    "bits with l2norm",
                    tiling.resident, name(problem.gate), name(problem.gate_dtype), problem.l2norm)};
  }
  if (tiling.resident == kMappedResident && tiling.slices > 1) {
    return Refusal{fmt::format("resident {} of {} slices: only of all chunks at once",
                               tiling.resident, tiling.slices)};
  }
  return validate_common(problem, tiling);
}

std::optional<Refusal> ChunkWgmma::validate_common(const PrefillProblem& problem,
                                                   const Tiling& tiling) {
  if (tiling.resident < 1 || tiling.resident > 4) {
    return Refusal{fmt::format("resident {} is not 1 to 4", tiling.resident)};
  }
  if (tiling.halves < 1 || tiling.halves > 2) {
    return Refusal{fmt::format("halves {} is neither 1 nor 2", tiling.halves)};
  }
  if (tiling.halves == 1 && problem.segment > 0) return Refusal{"halves 1 of cut sequences"};
  if (tiling.growth < 25 || tiling.growth > 400) {
    return Refusal{fmt::format("growth {} is not 25 to 400", tiling.growth)};
  }
  if (tiling.slices < 1) return Refusal{fmt::format("slices {} < 1", tiling.slices)};
  if (tiling.slices > 1 && !may_slice(problem)) {
    return Refusal{fmt::format("slices {} > 1 of {} sequences", tiling.slices,
                               problem.seqs > 0 ? "packed" : "cut")};
  }
  return std::nullopt;
}

std::optional<Refusal> ChunkWgmma::validate_head(const PrefillProblem& problem,
                                                 const Tiling& tiling, const DeviceInfo&) {
  if (tiling.halves != 2) return Refusal{fmt::format("halves {} is not 2", tiling.halves)};
  return validate_common(problem, tiling);
}

ChunkWgmma::Tiling ChunkWgmma::heuristic(const PrefillProblem& problem, const DeviceInfo& device) {
  const Tiling alone{.resident = resident_alone(problem, device)};
  if (problem.segment > 0) return alone;
  if (kBothHalves * recurrence_steps(problem, 1, device) < recurrence_steps(problem, 2, device)) {
    return {.resident = alone.resident, .halves = 1};
  }
  if (!may_slice(problem)) return alone;
  const std::int64_t blocks = 2 * problem.value_heads * problem.batch;
  if (2 * blocks > device.sm_count) {
    // Two slices overlap at their ends alone, and where the recurrence fills the device not even
    // there.
    const bool full = 8 * blocks > 7 * device.sm_count;
    if (full || chunks_of(problem.tokens) < kLongSlice) return alone;
    return {.slices = 2};
  }
  const bool few = 4 * blocks <= device.sm_count;
  const std::int64_t most = chunks_of(problem.tokens) / (few ? kShortSlice : kSlice);
  const auto slices = static_cast<int>(std::min(most, kMostSlices));
  if (slices < 2) return alone;
  // Fewer preparing blocks: they take bandwidth from the chain, which waits for its records. Beside
  // few blocks preparing is faster than the recurrence, and the first slice, which nothing hides,
  // may be the shortest.
  return {.resident = 2, .slices = slices, .growth = few ? 150 : 100};
}

std::vector<ChunkWgmma::Tiling> ChunkWgmma::tilings(const PrefillProblem& problem,
                                                    const DeviceInfo& device) {
  std::vector<int> halves = {2};
  if (problem.segment == 0) halves.push_back(1);
  std::vector<Tiling> out = all_tilings(problem, heuristic(problem, device), {3, 2}, halves);
  if (!may_map(problem)) return out;
  for (const int half : halves) {
    const Tiling mapped{.resident = kMappedResident, .halves = half};
    if (mapped != out.front()) out.push_back(mapped);
  }
  return out;
}

std::vector<ChunkWgmma::Tiling> ChunkWgmma::head_tilings(const PrefillProblem& problem,
                                                         const DeviceInfo&) {
  return all_tilings(problem, {.resident = 4}, {4, 3, 2}, {2});
}

ChunkKernels ChunkWgmma::kernels(const char* file, const char* name, const Tiling& tiling) {
  const bool whole = tiling.halves == 1;
  return {.file = file,
          .name = whole ? "einkorn::linear_attention::whole_heads" : name,
          .resident = tiling.resident,
          .stages = 3,
          .slices = tiling.slices,
          .growth = tiling.growth,
          .halves = tiling.halves,
          .threads = whole ? kWholeRecurrenceThreads : kRecurrenceThreads,
          .smem = kRecurrenceSmem,
          .mapped = tiling.resident == kMappedResident};
}

ChunkKernels ChunkWgmma::head_kernels(const char* file, const char* name, const Tiling& tiling) {
  ChunkKernels out = kernels(file, name, tiling);
  out.threads = kHeadRecurrenceThreads;
  out.smem = kHeadRecurrenceSmem;
  out.head_record = true;
  out.mapped = false;  // its preparing is short
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
