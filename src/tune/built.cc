#include "src/tune/built.h"

#include <algorithm>
#include <variant>

#include <einkorn/jit.h>

namespace einkorn::tune {

std::string compiler_of(const Plan& plan, const DeviceInfo& device) {
  if (device.device.kind == DeviceKind::kCuda) {
    const auto requests = compile_requests(plan, jit::native_arch(device.cc));
    return requests.empty() ? std::string() : jit::compile(requests.front())->compiler;
  }
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

trials::Resources resources_of(const Plan& plan, const DeviceInfo& device) {
  trials::Resources out;
  if (device.device.kind != DeviceKind::kCuda) return out;
  const auto requests = compile_requests(plan, jit::native_arch(device.cc));
  std::size_t next = 0;
  for (const Leaf& leaf : leaves(plan)) {
    const auto* launch = std::get_if<LaunchStage>(&leaf.stage->node);
    if (launch == nullptr || next >= requests.size()) continue;
    const auto program = jit::compile(requests[next++]);  // in memory since it was loaded
    const jit::Resources& takes = program->entries.front().resources;
    out.threads = std::max(out.threads, static_cast<int>(launch->launch.block.count()));
    out.registers = std::max(out.registers, takes.registers);
    out.smem = std::max(out.smem,
                        takes.static_smem + static_cast<std::int64_t>(launch->launch.smem_bytes));
  }
  return out;
}

}  // namespace einkorn::tune
