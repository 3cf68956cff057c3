#pragma once

// The toy op y = 2 * x as a plan with a workspace: a copy into it, then side by side the two halves
// of its doubling there, then out.

#include <cstddef>
#include <cstring>

#include "src/profile/subject.h"
#include "tests/unit/measure/toy_op.h"

namespace einkorn::profile::test {

using toy::None;
using toy::Twice;

inline std::int64_t count_of(const Twice::Args& args) { return args.x.size(0) * args.x.size(1); }

inline void copy_in(const Twice::Args& args, std::byte* workspace, const None&) {
  std::memcpy(workspace, args.x.data(), static_cast<std::size_t>(count_of(args)) * sizeof(float));
}

/// Doubles half `half` of the workspace into the other end of it.
template <int half>
void twice_half(const Twice::Args& args, std::byte* workspace, const None&) {
  const auto* in = reinterpret_cast<const float*>(workspace);
  auto* out = reinterpret_cast<float*>(workspace) + count_of(args);
  const std::int64_t middle = count_of(args) / 2;
  const std::int64_t begin = half == 0 ? 0 : middle;
  const std::int64_t end = half == 0 ? middle : count_of(args);
  for (std::int64_t i = begin; i < end; ++i) out[i] = 2 * in[i];
}

inline void copy_out(const Twice::Args& args, std::byte* workspace, const None&) {
  const auto* from = reinterpret_cast<const float*>(workspace) + count_of(args);
  Twice::each(args, [&](std::int64_t, std::int64_t to) { args.y.data_as<float>()[to] = *from++; });
}

inline Stage host(std::string name, void (*run)(const Twice::Args&, std::byte*, const None&),
                  Cost cost = {}) {
  HostStage stage = host_stage<Twice::Args, None>(std::move(name), None{}, run);
  stage.cost = cost;
  return stage;
}

struct Staged : toy::Impl<Twice::reference> {
  static Plan plan(const Twice::Problem& problem, const Tiling&, const DeviceInfo&) {
    const double bytes = static_cast<double>(problem.rows * problem.cols) * sizeof(float);
    Concurrent halves;
    halves.name = "halves";
    halves.branches.push_back(host("low", twice_half<0>));
    halves.branches.push_back(host("high", twice_half<1>));
    // In a plan of its own, whose workspace is all of this one's.
    SubPlan inner;
    inner.name = "inner";
    inner.stages.emplace_back(std::move(halves));
    Plan out;
    out.stages.push_back(host("in", copy_in, {.flops = 0, .bytes = 2 * bytes}));
    out.stages.emplace_back(std::move(inner));
    out.stages.push_back(host("out", copy_out));
    out.workspace_bytes = 2 * static_cast<std::size_t>(bytes);
    return out;
  }
};

inline constexpr Variant kStaged =
    make_variant<Twice, Staged>("cpu", "staged", 1, "cpp", "for a test");

}  // namespace einkorn::profile::test
