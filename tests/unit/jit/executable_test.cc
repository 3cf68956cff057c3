// Executables without a GPU; with one, the tests of the operators run them.

#include <vector>

#include <einkorn/plan.h>
#include <gtest/gtest.h>

#include "tests/unit/golden.h"

namespace einkorn {
namespace {

struct Params {
  int n;
};

TEST(Executable, ADeviceThatIsNotHereIsRefused) {
  Plan plan;
  plan.stages.emplace_back(launch_stage<int, Params>("stage", "ops/x/y.cu", "k", {}, Params{1},
                                                     [](const int& n, Params& p) { p.n = n; }));
  EXPECT_EQ(
      test::error_text([&] { Executable(plan, cuda::known_device("h100")); }),
      "RuntimeError: stage: NVIDIA H100 80GB HBM3 is not in this machine\n"
      "  hint: for a device that is not here, compile_requests() and prediction work, running "
      "does not");
  EXPECT_EQ(test::error_text([&] { Executable(plan, DeviceInfo{}); }),
            "NotImplementedError: plan: stage: a kernel launch needs a CUDA device, got cpu");
  const auto requests = compile_requests(plan, "sm_100a");
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].file, "ops/x/y.cu");
  EXPECT_EQ(requests[0].arch, "sm_100a");
  EXPECT_EQ(requests[0].instantiate, std::vector<std::string>{"k"});
}

TEST(Executable, RunsHostStagesInOrder) {
  struct Args {
    std::vector<int>* seen;
  };
  Plan plan;
  for (int i : {1, 2, 3}) {
    plan.stages.emplace_back(host_stage<Args, int>(
        "stage", i, [](const Args& args, const int& value) { args.seen->push_back(value); }));
  }
  const Executable executable(plan, DeviceInfo{});
  std::vector<int> seen;
  const Args args{&seen};
  executable.run(&args, Stream::cpu());
  EXPECT_EQ(seen, (std::vector{1, 2, 3}));
}

}  // namespace
}  // namespace einkorn
