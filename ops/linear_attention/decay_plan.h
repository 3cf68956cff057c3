#pragma once

// Plans of the variants that work on chunks with a decay that is a number a head: one pass, or
// where sequences are cut, what each segment leaves behind, its states carried on, and then the
// pass.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "ops/linear_attention/chunk_plan.h"
#include "ops/linear_attention/decay_params.h"

namespace einkorn::linear_attention {

/// The kernels of a variant; the templates of its passes begin with `tiling`.
struct DecayKernels : ChunkKernels {
  std::vector<jit::TemplateArgument> tiling;
};

/// Bytes from the workspace's begin to each part; the starts of packed sequences come first.
struct DecayScratch {
  DecayScratch(const PrefillProblem& problem, const ChunkSizes& sizes);

  std::size_t carried = 0;
  std::size_t bytes = 0;  ///< all of it
};

/// Parameters with all that depends on the problem alone.
DecayParams decay_params(const PrefillProblem& problem);
/// Writes what depends on the call.
void bind_decay(const PrefillCall& call, std::byte* workspace, DecayParams& params);

/// What the pass does, for predictions; `halves` blocks multiply q and k, each for itself.
Cost decay_cost(const PrefillProblem& problem, int halves);

cuda::Launch carry_launch(const PrefillProblem& problem, const ChunkKernels& kernels);
Needs carry_needs();

/// The entry of each stage that is a template.
std::string decay_entry(const PrefillProblem& problem, const DecayKernels& kernels);
std::string decay_partial_entry(const PrefillProblem& problem, const DecayKernels& kernels);
std::string carry_entry(const PrefillProblem& problem);

/// The stages of op C.
template <class C>
Plan plan_decay(const typename C::Problem& problem, const DecayKernels& kernels) {
  using Args = typename C::Args;
  Plan out;
  if (problem.empty()) return out;
  const ChunkSizes sizes(problem);
  out.workspace_bytes = DecayScratch(problem, sizes).bytes;
  if (problem.seqs > 0)
    out.stages.emplace_back(starts_stage<C>(problem, kernels.file, kernels.pdl));
  const auto pass = [&](const char* name, std::string entry, const cuda::Launch& launch,
                        const Needs& needs) {
    LaunchStage stage = launch_stage<Args, DecayParams>(
        name, kernels.file, std::move(entry), launch, decay_params(problem),
        [](const Args& args, std::byte* workspace, DecayParams& params) {
          bind_decay(prefill_call<C>(args), workspace, params);
        });
    stage.needs = needs;
    return stage;
  };
  const cuda::Launch launch = recurrence_launch(problem, kernels);
  if (sizes.cut) {
    out.stages.emplace_back(
        pass("partial", decay_partial_entry(problem, kernels), launch, recurrence_needs(kernels)));
    out.stages.emplace_back(
        pass("carry", carry_entry(problem), carry_launch(problem, kernels), carry_needs()));
  }
  LaunchStage last =
      pass("chunks", decay_entry(problem, kernels), launch, recurrence_needs(kernels));
  last.cost = decay_cost(problem, kernels.halves);
  out.stages.emplace_back(std::move(last));
  return out;
}

}  // namespace einkorn::linear_attention
