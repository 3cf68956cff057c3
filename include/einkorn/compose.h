#pragma once

// Ops made of other ops: their plans as stages of one plan, which is cached, captured, predicted
// and timed as a whole.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <einkorn/op.h>
#include <einkorn/stage.h>

namespace einkorn {

namespace detail {

SubPlan select_sub_plan(std::string name, std::string_view op, const void* problem,
                        const DeviceInfo& device);
std::optional<Refusal> sub_plan_refusal(std::string_view op, const void* problem,
                                        const DeviceInfo& device);

}  // namespace detail

/// Why `Inner` cannot be part of a plan on the device: each of its variants refuses. For
/// supports().
template <Contract Inner>
std::optional<Refusal> sub_plan_refusal(const typename Inner::Problem& problem,
                                        const DeviceInfo& device) {
  return detail::sub_plan_refusal(Inner::kName, &problem, device);
}

/// The plan that a call of `Inner` would run, with the variant and tiling that it would be given.
/// `project` fills Inner's arguments, default made, from the outer op's and the workspace.
/// NotImplementedError: no variant serves.
template <Contract Inner, class Args>
SubPlan sub_plan(std::string name, const typename Inner::Problem& problem, const DeviceInfo& device,
                 void (*project)(const Args&, std::byte* workspace, typename Inner::Args&)) {
  using InnerArgs = typename Inner::Args;
  static_assert(std::is_trivially_copyable_v<InnerArgs> && sizeof(InnerArgs) <= kMaxArgsBytes);
  SubPlan out = detail::select_sub_plan(std::move(name), Inner::kName, &problem, device);
  const Work work = Inner::work(problem);
  out.cost = {.flops = work.executed_flops, .bytes = work.est_bytes, .unit = work.unit};
  out.project = [project](const void* args, std::byte* workspace, std::byte* inner) {
    project(*static_cast<const Args*>(args), workspace, *new (inner) InnerArgs{});
  };
  return out;
}

}  // namespace einkorn
