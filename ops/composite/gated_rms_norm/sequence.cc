#include "ops/composite/gated_rms_norm/sequence.h"

#include "ops/composite/parts.h"

namespace einkorn::gated_rms_norm {
namespace {

using Args = GatedRmsNorm::Args;

void project_norm(const Args& args, std::byte* workspace, RmsNorm::Args& norm) {
  norm.x = args.x;
  norm.weight = args.weight;
  norm.y = composite::like(args.x, workspace);
  norm.eps = args.eps;
}

void project_product(const Args& args, std::byte* workspace, SiluMul::Args& product) {
  product.gate = args.gate;
  product.up = composite::like(args.x, workspace);
  product.y = args.y;
}

}  // namespace

std::optional<Refusal> Sequence::supports(const Problem& problem, const DeviceInfo& device) {
  if (auto refusal = sub_plan_refusal<RmsNorm>(problem.norm(), device)) return refusal;
  return sub_plan_refusal<SiluMul>(problem.product(), device);
}

Plan Sequence::plan(const Problem& problem, const Tiling&, const DeviceInfo& device) {
  Plan out;
  if (problem.rows == 0) return out;
  const std::size_t normed = composite::rows_bytes(problem.rows, problem.cols, problem.dtype);
  SubPlan norm = sub_plan<RmsNorm, Args>("norm", problem.norm(), device, project_norm);
  SubPlan product = sub_plan<SiluMul, Args>("product", problem.product(), device, project_product);
  // The parts run one after the other, so that one place serves the workspaces of both.
  norm.workspace_offset = product.workspace_offset = normed;
  out.workspace_bytes = normed + std::max(norm.workspace_bytes, product.workspace_bytes);
  out.stages.emplace_back(std::move(norm));
  out.stages.emplace_back(std::move(product));
  return out;
}

}  // namespace einkorn::gated_rms_norm
