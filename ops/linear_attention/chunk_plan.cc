#include "ops/linear_attention/chunk_plan.h"

#include <algorithm>
#include <cmath>

#include <einkorn/cuda.h>
#include <fmt/format.h>

#include "ops/launch.h"

namespace einkorn::linear_attention {
namespace {

/// Blocks down a grid; more go into its third dimension.
constexpr std::int64_t kMostRows = 32768;

constexpr std::size_t kStateBytes = sizeof(float) * kChunkDim * kChunkDim;

SequenceTable sequence_table(const PrefillProblem& problem, const ChunkSizes& sizes) {
  SequenceTable table{};
  table.count = static_cast<int>(sizes.sequences);
  table.tokens = static_cast<int>(problem.tokens);
  table.segment_chunks = static_cast<int>(sizes.segment_chunks);
  table.checkpoint_chunks = static_cast<int>(problem.checkpoint_every / kChunk);
  return table;
}

}  // namespace

ChunkSizes::ChunkSizes(const PrefillProblem& problem)
    : sequences(problem.sequences()),
      chunks(problem.seqs > 0 ? problem.tokens / kChunk + problem.seqs
                              : problem.batch * chunks_of(problem.tokens)),
      segments(sequences),
      segment_chunks(std::max<std::int64_t>(1, chunks_of(problem.longest))),
      cut(problem.segment > 0) {
  if (!cut) return;
  segment_chunks = problem.segment / kChunk;
  segments = problem.seqs > 0 ? problem.tokens / problem.segment + problem.seqs
                              : problem.batch * ceil_div(chunks_of(problem.tokens), segment_chunks);
}

std::vector<Slice> slices_of(std::int64_t chunks, int slices, int growth) {
  std::vector<Slice> out;
  if (slices < 2 || chunks < 2) return out;
  // The share of the first i slices is (1 - g^i) / (1 - g^n).
  const double g = growth / 100.0;
  const auto share = [&](int i) {
    return growth == 100 ? static_cast<double>(i) / slices
                         : (1 - std::pow(g, i)) / (1 - std::pow(g, slices));
  };
  std::int64_t first = 0;
  for (int i = 1; i <= slices; ++i) {
    const std::int64_t end =
        i == slices ? chunks : std::llround(static_cast<double>(chunks) * share(i));
    if (end == first) continue;
    out.push_back({static_cast<int>(first), static_cast<int>(end - first)});
    first = end;
  }
  return out;
}

std::size_t starts_bytes(const PrefillProblem& problem) {
  if (problem.seqs == 0) return 0;
  return workspace_part(sizeof(SequenceStart) * static_cast<std::size_t>(problem.seqs + 1));
}

ChunkScratch::ChunkScratch(const PrefillProblem& problem, const ChunkKernels& kernels) {
  const ChunkSizes sizes(problem);
  const auto heads = static_cast<std::size_t>(problem.value_heads);
  bytes = starts_bytes(problem);
  const auto part = [this](std::size_t size) {
    const std::size_t begin = bytes;
    bytes += workspace_part(size);
    return begin;
  };
  records = part(static_cast<std::size_t>(sizes.chunks) * heads * kernels.record_bytes());
  const auto states = static_cast<std::size_t>(sizes.segments) * heads * kStateBytes;
  if (sizes.cut || kernels.slices > 1) carried = part(states);
  if (sizes.cut) partial = part(2 * states);
  if (kernels.slices > 1) {
    progress =
        part(static_cast<std::size_t>(sizes.sequences) * heads * kProgressWords * sizeof(unsigned));
  }
}

std::optional<Refusal> refuse_chunks(const PrefillProblem& problem) {
  if (problem.dtype != kBF16) {
    return Refusal{fmt::format("dtype {}: only bf16", name(problem.dtype))};
  }
  if (problem.key_dim != kChunkDim || problem.value_dim != kChunkDim) {
    return Refusal{fmt::format("key_dim {}, value_dim {}: only {} and {}", problem.key_dim,
                               problem.value_dim, kChunkDim, kChunkDim)};
  }
  if (problem.align < 16) {
    return Refusal{fmt::format("align {} < 16, what the copies take", problem.align)};
  }
  const ChunkSizes sizes(problem);
  // The widest grids are 2^31 - 1 blocks across and 65535 down.
  if (sizes.segments > 65535) {
    return Refusal{
        fmt::format("{} sequences and segments > 65535, the highest grid", sizes.segments)};
  }
  if (sizes.chunks > cuda::kMaxBlocks / 2 / problem.value_heads) {
    return Refusal{fmt::format("{} chunks of {} value heads need more than {} blocks", sizes.chunks,
                               problem.value_heads, cuda::kMaxBlocks / 2)};
  }
  return std::nullopt;
}

StartsParams starts_params(const PrefillProblem& problem) {
  const ChunkSizes sizes(problem);
  StartsParams params{};
  params.count = static_cast<int>(sizes.sequences);
  params.segment_chunks = static_cast<int>(sizes.segment_chunks);
  params.checkpoint_chunks = static_cast<int>(problem.checkpoint_every / kChunk);
  return params;
}

PrepareParams prepare_params(const PrefillProblem& problem, const ChunkKernels& kernels,
                             Slice slice) {
  PrepareParams params{};
  const ChunkScratch scratch(problem, kernels);
  params.sequences = sequence_table(problem, ChunkSizes(problem));
  params.records_at = scratch.records;
  params.progress_at = scratch.progress;
  params.value_heads = static_cast<int>(problem.value_heads);
  params.group = static_cast<int>(problem.value_heads / problem.heads);
  params.slice = slice;
  return params;
}

RecurrenceParams recurrence_params(const PrefillProblem& problem, const ChunkKernels& kernels,
                                   Slice slice) {
  const ChunkScratch scratch(problem, kernels);
  RecurrenceParams params{};
  params.sequences = sequence_table(problem, ChunkSizes(problem));
  params.records_at = scratch.records;
  params.carried_at = scratch.carried;
  params.partial_at = scratch.partial;
  params.progress_at = scratch.progress;
  params.value_heads = static_cast<int>(problem.value_heads);
  params.group = static_cast<int>(problem.value_heads / problem.heads);
  params.slice = slice;
  return params;
}

Cost prepare_cost(const PrefillKind& kind, const PrefillProblem& problem,
                  const ChunkKernels& kernels) {
  const auto records = static_cast<double>(ChunkSizes(problem).chunks * problem.value_heads);
  Cost cost;
  cost.unit = Unit::kTensor16;
  cost.flops = records * 2 * 2 * kChunkTokens * kChunkTokens * kChunkDim;
  // q, k and the gate, of a channel or of a head.
  const double gate = kChunkTokens * (kind.channel_gate ? kChunkDim : 1) *
                      static_cast<double>(bits(problem.gate_dtype)) / 8;
  cost.bytes = records * (static_cast<double>(kernels.record_bytes()) +
                          2.0 * 2 * kChunkTokens * kChunkDim + gate);
  return cost;
}

Cost recurrence_cost(const PrefillProblem& problem, const ChunkKernels& kernels) {
  const auto records = static_cast<double>(ChunkSizes(problem).chunks * problem.value_heads);
  constexpr double kTile = 2.0 * kChunkTokens * kChunkDim;
  Cost cost;
  cost.unit = Unit::kTensor16;
  // Keys, queries and (twice) updates with the state; the inverse and (both twice) attention.
  cost.flops = records * kTile * (4.0 * kChunkDim + 4.0 * kChunkTokens);
  // V and O; with a record that has only factors, q and k as well.
  const double tiles = kernels.head_record ? 4 : 2;
  cost.bytes = records * (static_cast<double>(kernels.record_bytes()) + tiles * kTile);
  return cost;
}

Cost share_of(const Cost& cost, const PrefillProblem& problem, Slice slice) {
  if (slice.chunks == 0) return cost;
  const double share = slice.chunks / static_cast<double>(chunks_of(problem.tokens));
  return {.flops = cost.flops * share, .bytes = cost.bytes * share, .unit = cost.unit};
}

cuda::Launch starts_launch(bool pdl) {
  cuda::Launch launch;
  launch.block.x = kStartsThreads;
  launch.pdl = pdl;
  return launch;
}

cuda::Launch prepare_launch(const PrefillKind& kind, const PrefillProblem& problem,
                            const ChunkKernels& kernels, Slice slice) {
  const ChunkSizes sizes(problem);
  const std::int64_t chunks = slice.chunks > 0 ? sizes.sequences * slice.chunks : sizes.chunks;
  cuda::Launch launch;
  launch.block.x = kPrepareThreads;
  launch.pdl = kernels.pdl;
  const std::int64_t rows = std::min(chunks, kMostRows);
  launch.grid.x = static_cast<std::uint32_t>(problem.value_heads);
  launch.grid.y = static_cast<std::uint32_t>(rows);
  launch.grid.z = static_cast<std::uint32_t>(ceil_div(chunks, rows));
  launch.smem_bytes = kPrepareSmem;
  if (kernels.head_record) launch.smem_bytes = kPrepareHeadSmem;
  if (kind.channel_gate && problem.gate_dtype == kF32) launch.smem_bytes = kPrepareWideSmem;
  return launch;
}

cuda::Launch recurrence_launch(const PrefillProblem& problem, const ChunkKernels& kernels) {
  cuda::Launch launch;
  launch.grid.x = static_cast<std::uint32_t>(kernels.halves * problem.value_heads);
  launch.grid.y = static_cast<std::uint32_t>(ChunkSizes(problem).segments);
  launch.block.x = static_cast<std::uint32_t>(kernels.threads);
  launch.smem_bytes = kernels.smem;
  launch.pdl = kernels.pdl;
  return launch;
}

cuda::Launch partial_launch(const PrefillProblem& problem, const ChunkKernels& kernels) {
  cuda::Launch launch = recurrence_launch(problem, kernels);
  launch.grid.x *= 2;  // the identity's, too
  return launch;
}

cuda::Launch merge_launch(const PrefillProblem& problem, const ChunkKernels& kernels) {
  cuda::Launch launch;
  launch.grid.x = static_cast<std::uint32_t>(problem.value_heads * kChunkDim / kMergeRows);
  launch.grid.y = static_cast<std::uint32_t>(ChunkSizes(problem).sequences);
  launch.block.x = kChunkDim;
  launch.pdl = kernels.pdl;
  return launch;
}

// The assembler's counts with NVRTC 13.0, for sm_80 to sm_100, or what the launch bounds leave.
Needs starts_needs() {
  return {.registers = 40, .static_smem = 3 * kStartsThreads * std::int64_t{sizeof(int)}};
}

Needs prepare_needs(const ChunkKernels& kernels) {
  return {.registers = registers_under_bounds(kPrepareThreads, kernels.resident), .static_smem = 0};
}

Needs merge_needs() {
  return {.registers = 64, .static_smem = kMergeRows * kChunkDim * std::int64_t{sizeof(float)}};
}

Needs recurrence_needs(const ChunkKernels& kernels) {
  return {.registers = registers_under_bounds(kernels.threads), .static_smem = kernels.static_smem};
}

std::string prepare_entry(const PrefillKind& kind, const PrefillProblem& problem,
                          const ChunkKernels& kernels) {
  std::vector<jit::TemplateArgument> arguments = {problem.gate_dtype,
                                                  problem.beta_dtype,
                                                  static_cast<int>(problem.gate),
                                                  static_cast<int>(problem.beta_form),
                                                  problem.negative_eigenvalues,
                                                  problem.l2norm,
                                                  kernels.resident};
  if (kind.channel_gate) {
    arguments.insert(arguments.begin(), kernels.mapped
                                            ? "einkorn::linear_attention::MappedPrepareParams"
                                            : "einkorn::linear_attention::PrepareParams");
    return jit::instantiate("einkorn::linear_attention::prepare_chunks", arguments);
  }
  arguments.emplace_back(kernels.head_record);
  return jit::instantiate("einkorn::linear_attention::prepare_head_gate_chunks", arguments);
}

std::string partial_entry(const ChunkKernels& kernels) {
  return jit::instantiate("einkorn::linear_attention::partial_states", {kernels.stages});
}

std::string merge_entry(const PrefillProblem& problem) {
  return jit::instantiate("einkorn::linear_attention::merge_states",
                          {problem.initial_state, problem.state_layout == StateLayout::kKv});
}

std::string recurrence_entry(const PrefillProblem& problem, const ChunkKernels& kernels) {
  return jit::instantiate(kernels.name,
                          {kernels.stages, problem.initial_state, problem.final_state,
                           problem.checkpoints, problem.state_layout == StateLayout::kKv});
}

}  // namespace einkorn::linear_attention
