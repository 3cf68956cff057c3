// Every CUDA variant compiles for the architectures that it says it serves, without a device: plans
// for all cases build, and their kernels go through the compiler with no spills.

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <einkorn/jit.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/jit/cubin.h"
#include "tests/ops/support.h"

namespace einkorn::test {
namespace {

struct CompileParam {
  const OpEntry* entry;
  const Variant* variant;
  std::string_view device;  ///< a known device
};

void PrintTo(const CompileParam& param, std::ostream* out) {  // NOLINT: gtest's name
  *out << param.variant->id() << " for " << param.device;
}

std::vector<CompileParam> compile_params() {
  static const auto kView = registry();
  std::vector<CompileParam> out;
  for (const OpEntry& entry : kView->ops()) {
    for (const Variant* variant : entry.variants) {
      const Arch& arch = find_arch(variant->arch);
      if (arch.kind != DeviceKind::kCuda) continue;
      for (const std::string_view name : kKnownDevices) {
        const int cc = find_device_info(name).cc;
        if (cc >= arch.min_cc && cc <= arch.max_cc) out.push_back({&entry, variant, name});
      }
    }
  }
  return out;
}

std::string compile_name(const testing::TestParamInfo<CompileParam>& info) {
  return test_name(fmt::format("{}_for_{}", info.param.variant->id(), info.param.device));
}

/// One kernel, and what its stages say that it needs: the least of them, since each has to hold.
struct Launched {
  jit::Request request;
  Needs needs;
};
using LaunchedKernels = std::map<std::tuple<std::string, std::string>, Launched>;

void add_kernels(const Plan& plan, const std::string& arch, LaunchedKernels& out) {
  std::vector<jit::Request> requests = compile_requests(plan, arch);
  auto request = requests.begin();
  for (const Leaf& leaf : leaves(plan)) {
    const Needs needs = std::get<LaunchStage>(leaf.stage->node).needs;
    const auto key =
        std::tuple(request->file, fmt::format("{}", fmt::join(request->instantiate, ";")));
    const auto [found, fresh] = out.try_emplace(key, Launched{std::move(*request), needs});
    if (!fresh) {
      Needs& least = found->second.needs;
      least.registers = std::min(least.registers, needs.registers);
      least.static_smem = std::min(least.static_smem, needs.static_smem);
    }
    ++request;
  }
}

/// Kernels of all cases by what makes them distinct; `planned` counts the cases that are served.
/// At level 2 and up with all tilings, below with each problem's first.
LaunchedKernels kernels_of(const CompileParam& param, int* planned) {
  LaunchedKernels out;
  const auto& [entry, variant, name] = param;
  const DeviceInfo info = find_device_info(name);
  for (const Case& one : entry->op->cases()) {
    const AnyProblem problem = entry->op->parse(split_key_values(one.keys));
    if (refusal_of(*variant, problem.get(), info)) continue;
    ++*planned;
    const auto tilings = variant->tilings(problem.get(), info);
    EXPECT_GT(tilings.size(), 0U) << one.name;
    for (std::size_t i = 0; i < tilings.size(); ++i) {
      const auto refusal = variant->validate(problem.get(), info, tilings[i]);
      EXPECT_FALSE(refusal) << tilings[i] << ": " << refusal.value_or(Refusal{}).reason;
      const Plan plan = variant->plan(problem.get(), info, tilings[i]);
      if (i > 0 && test_level() < 2) continue;
      add_kernels(plan, jit::native_arch(info.cc), out);
    }
  }
  return out;
}

/// Where the compiler was looked for when it is not there; empty when it is.
std::string missing_compiler() {
  for (const cuda::LibraryReport& report : cuda::library_reports()) {
    if (report.library != "libnvrtc") continue;
    if (!report.path.empty()) return {};
    return fmt::format("no NVRTC; looked at {}", fmt::join(report.tried, ", "));
  }
  return "no report about NVRTC";
}

class Compile : public testing::TestWithParam<CompileParam> {};

TEST_P(Compile, EveryServedCasePlans) {
  int planned = 0;
  const LaunchedKernels kernels = kernels_of(GetParam(), &planned);
  EXPECT_GT(planned, 0) << "serves no case";
  EXPECT_FALSE(kernels.empty());
}

TEST_P(Compile, EveryKernelCompilesWithoutSpills) {
  int planned = 0;
  const LaunchedKernels kernels = kernels_of(GetParam(), &planned);
  if (const std::string reason = missing_compiler(); !reason.empty()) {
    GTEST_SKIP() << reason << "; " << kernels.size() << " kernels not compiled";
  }
  for (const auto& [key, launched] : kernels) {
    const auto& [request, needs] = launched;
    const auto artifact = jit::compile(request);
    EXPECT_FALSE(artifact->image.empty());
    // Not by nvcc, which takes over where NVRTC refuses: most machines that run this have none.
    EXPECT_THAT(artifact->compiler, testing::StartsWith("nvrtc")) << request.file;
    // A kernel that nobody asked for costs each compilation what its own would.
    EXPECT_EQ(jit::read_cubin(artifact->image).kernels.size(), artifact->entries.size())
        << request.file << ": " << fmt::format("{}", fmt::join(request.instantiate, ", "));
    for (const jit::EntryPoint& entry : artifact->entries) {
      EXPECT_EQ(entry.resources.spill_stores, 0) << entry.expression << " for " << request.arch;
      EXPECT_EQ(entry.resources.spill_loads, 0) << entry.expression << " for " << request.arch;
      EXPECT_GT(entry.resources.registers, 0) << entry.expression << " for " << request.arch;
      EXPECT_LE(entry.resources.registers, needs.registers)
          << entry.expression << " for " << request.arch;
      EXPECT_LE(entry.resources.static_smem, needs.static_smem)
          << entry.expression << " for " << request.arch;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, Compile, testing::ValuesIn(compile_params()), compile_name);
// A build without CUDA architectures has no such variants.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Compile);

}  // namespace
}  // namespace einkorn::test
