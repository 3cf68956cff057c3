#pragma once

// Plans of the variants that go through whole sequences token by token.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <einkorn/device.h>
#include <einkorn/plan.h>

#include "ops/linear_attention/chunk_plan.h"
#include "ops/linear_attention/prefill.h"
#include "ops/linear_attention/step_plan.h"
#include "ops/linear_attention/tokens_params.h"

namespace einkorn::linear_attention {

/// What the variants have in common: what they serve and with what tilings. Each adds its plan.
/// Where sequences are cut makes no difference to them: a value head is gone through in one piece,
/// and what comes out is the same.
struct Tokens {
  /// A head of a sequence is computed alone, in an order and by tilings that follow from its sizes.
  static constexpr bool kBatchInvariant = true;

  using Tiling = RowTiling;

  static std::optional<Refusal> supports(const PrefillProblem& problem, const DeviceInfo& device);
  static std::optional<Refusal> validate(const PrefillProblem& problem, const Tiling& tiling,
                                         const DeviceInfo& device);
  /// The heuristic's first: up to 16 columns a thread, two rows, four warps.
  static std::vector<Tiling> tilings(const PrefillProblem& problem, const DeviceInfo& device);
};

/// Parameters with all that depends on the problem alone.
TokensParams tokens_params(const PrefillProblem& problem, const Tokens::Tiling& tiling);
/// Writes what depends on the call.
void bind_tokens(const PrefillCall& call, std::byte* workspace, TokensParams& params);

cuda::Launch tokens_launch(const PrefillProblem& problem, const Tokens::Tiling& tiling,
                           const DeviceInfo& device);
Needs tokens_needs(const Tokens::Tiling& tiling);
/// What the pass does, for predictions.
Cost tokens_cost(const PrefillKind& kind, const PrefillProblem& problem);
/// The instance of the kernel `name`, qualified.
std::string tokens_entry(const PrefillKind& kind, const PrefillProblem& problem, const char* name,
                         const Tokens::Tiling& tiling);

/// The stages of op C, whose kernel `name` is in `file`.
template <class C>
Plan plan_tokens(const typename C::Problem& problem, const char* file, const char* name,
                 const Tokens::Tiling& tiling, const DeviceInfo& device) {
  using Args = typename C::Args;
  Plan out;
  if (problem.empty()) return out;
  const cuda::Launch launch = tokens_launch(problem, tiling, device);
  out.workspace_bytes = starts_bytes(problem);
  if (problem.seqs > 0) out.stages.emplace_back(starts_stage<C>(problem, file, launch.pdl));
  LaunchStage stage = launch_stage<Args, TokensParams>(
      "tokens", file, tokens_entry(C::kKind, problem, name, tiling), launch,
      tokens_params(problem, tiling),
      [](const Args& args, std::byte* workspace, TokensParams& params) {
        bind_tokens(prefill_call<C>(args), workspace, params);
      });
  stage.needs = tokens_needs(tiling);
  stage.cost = tokens_cost(C::kKind, problem);
  out.stages.emplace_back(std::move(stage));
  return out;
}

}  // namespace einkorn::linear_attention
