#include "ops/composite/gated_norm_pair/concurrent.h"

#include <algorithm>

#include "ops/composite/parts.h"

namespace einkorn::gated_norm_pair {
namespace {

using Args = GatedNormPair::Args;

/// The workspace holds the normalised gate, then the normalised up.
std::byte* second(const TensorView& model, std::byte* workspace) {
  return workspace + workspace_part(static_cast<std::size_t>(model.nbytes()));
}

void project_gate(const Args& args, std::byte* workspace, RmsNorm::Args& norm) {
  norm.x = args.gate;
  norm.weight = args.gate_weight;
  norm.y = composite::like(args.gate, workspace);
  norm.eps = args.eps;
}

void project_up(const Args& args, std::byte* workspace, RmsNorm::Args& norm) {
  norm.x = args.up;
  norm.weight = args.up_weight;
  norm.y = composite::like(args.up, second(args.gate, workspace));
  norm.eps = args.eps;
}

void project_product(const Args& args, std::byte* workspace, SiluMul::Args& product) {
  product.gate = composite::like(args.gate, workspace);
  product.up = composite::like(args.up, second(args.gate, workspace));
  product.y = args.y;
}

Stage norms(std::vector<Stage> branches, bool together) {
  if (together) return Concurrent{.name = "norms", .branches = std::move(branches)};
  return einkorn::Sequence{.name = "norms", .stages = std::move(branches)};
}

}  // namespace

std::optional<Refusal> ConcurrentNorms::supports(const Problem& problem, const DeviceInfo& device) {
  if (auto refusal = sub_plan_refusal<RmsNorm>(problem.norm(), device)) return refusal;
  return sub_plan_refusal<SiluMul>(problem.product(), device);
}

std::optional<Refusal> ConcurrentNorms::validate(const Problem& problem, const Tiling& tiling,
                                                 const DeviceInfo& device) {
  return plan_refusal(plan(problem, tiling, device), device);
}

std::vector<ConcurrentNorms::Tiling> ConcurrentNorms::tilings(const Problem& problem,
                                                              const DeviceInfo& device) {
  if (validate(problem, {.together = true}, device)) return {{.together = false}};
  return {{.together = true}, {.together = false}};
}

Plan ConcurrentNorms::plan(const Problem& problem, const Tiling& tiling, const DeviceInfo& device) {
  Plan out;
  if (problem.rows == 0) return out;
  const std::size_t normed = composite::rows_bytes(problem.rows, problem.cols, problem.dtype);
  SubPlan gate = sub_plan<RmsNorm, Args>("gate", problem.norm(), device, project_gate);
  SubPlan up = sub_plan<RmsNorm, Args>("up", problem.norm(), device, project_up);
  SubPlan product = sub_plan<SiluMul, Args>("product", problem.product(), device, project_product);
  gate.workspace_offset = product.workspace_offset = 2 * normed;
  up.workspace_offset = 2 * normed + workspace_part(gate.workspace_bytes);
  out.workspace_bytes = std::max(up.workspace_offset + up.workspace_bytes,
                                 product.workspace_offset + product.workspace_bytes);
  std::vector<Stage> branches;
  branches.reserve(2);
  branches.emplace_back(std::move(gate));
  branches.emplace_back(std::move(up));
  out.stages.push_back(norms(std::move(branches), tiling.together));
  out.stages.emplace_back(std::move(product));
  return out;
}

}  // namespace einkorn::gated_norm_pair
