#include "ops/linear_attention/decay_plan.h"

#include <einkorn/cuda.h>
#include <fmt/format.h>

#include "ops/launch.h"

namespace einkorn::linear_attention {

DecayScratch::DecayScratch(const PrefillProblem& problem, const ChunkSizes& sizes) {
  bytes = starts_bytes(problem);
  carried = bytes;
  if (!sizes.cut) return;
  const auto states = static_cast<std::size_t>(sizes.segments * problem.value_heads);
  bytes += workspace_part(states * sizeof(float) * kChunkDim * kChunkDim);
}

DecayParams decay_params(const PrefillProblem& problem) {
  DecayParams params{};
  static_cast<RecurrenceParams&>(params) = recurrence_params(problem, ChunkKernels{});
  params.records_at = 0;
  params.partial_at = 0;
  params.carried_at = DecayScratch(problem, ChunkSizes(problem)).carried;
  return params;
}

void bind_decay(const PrefillCall& call, std::byte* workspace, DecayParams& params) {
  bind_recurrence(call, workspace, params);
  params.records = nullptr;
  params.partial = nullptr;
  params.decay = call.decay.data_as<const float>();
  params.factor = call.gate == Gate::kFactor ? 1 : 0;
  params.scale = static_cast<float>(call.used_scale());
}

Cost decay_cost(const PrefillProblem& problem, int halves) {
  const auto chunks = static_cast<double>(ChunkSizes(problem).chunks * problem.value_heads);
  constexpr double kTile = 2.0 * kChunkTokens * kChunkDim;
  Cost cost;
  cost.unit = Unit::kTensor16;
  // q k^T in each half; q with the state, P with V, k with V into the state.
  cost.flops = chunks * kTile * (halves * kChunkTokens + 2.0 * kChunkDim + kChunkTokens);
  // q, k, V and O, once; the second half finds q and k in the second cache.
  cost.bytes = chunks * 4 * kTile;
  return cost;
}

cuda::Launch carry_launch(const PrefillProblem& problem, const ChunkKernels& kernels) {
  cuda::Launch launch;
  launch.grid.x = static_cast<std::uint32_t>(problem.value_heads * kCarryBlocks);
  launch.grid.y = static_cast<std::uint32_t>(ChunkSizes(problem).sequences);
  launch.block.x = kCarryThreads;
  launch.pdl = kernels.pdl;
  return launch;
}

// The assembler's count, rounded up, for sm_80 to sm_100.
Needs carry_needs() { return {.registers = 40, .static_smem = 0}; }

std::string decay_entry(const PrefillProblem& problem, const DecayKernels& kernels) {
  std::vector<jit::TemplateArgument> arguments = kernels.tiling;
  for (const jit::TemplateArgument& one :
       {jit::TemplateArgument(problem.l2norm), jit::TemplateArgument(problem.initial_state),
        jit::TemplateArgument(problem.final_state), jit::TemplateArgument(problem.checkpoints),
        jit::TemplateArgument(problem.state_layout == StateLayout::kKv)}) {
    arguments.push_back(one);
  }
  return jit::instantiate(kernels.name, arguments);
}

std::string decay_partial_entry(const PrefillProblem& problem, const DecayKernels& kernels) {
  std::vector<jit::TemplateArgument> arguments = kernels.tiling;
  arguments.emplace_back(problem.l2norm);
  return jit::instantiate(kernels.name + "_partial", arguments);
}

std::string carry_entry(const PrefillProblem& problem) {
  return jit::instantiate("einkorn::linear_attention::carry_states",
                          {problem.initial_state, problem.state_layout == StateLayout::kKv});
}

}  // namespace einkorn::linear_attention
