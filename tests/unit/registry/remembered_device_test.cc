#include "src/registry/remembered_device.h"

#include <stdexcept>

#include <einkorn/registry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/file.h"
#include "src/cuda/driver.h"
#include "tests/unit/file_tree.h"

namespace einkorn {
namespace {

using testing::HasSubstr;

/// A machine with one GPU, as its kernel's module shows it.
class DriverState : public testing::Test {
 protected:
  DriverState() {
    tree_.write("proc/version", "NVRM version: 580.159.04\n");
    tree_.write("proc/gpus/0000:00:06.0/information", "Model: NVIDIA H200\n");
    tree_.write("dev/nvidia0");
    tree_.write("dev/null");
  }
  std::string state() const { return driver_state(tree_.path("proc"), tree_.path("dev")); }

  const test::FileTree tree_;
};

TEST_F(DriverState, TellsWhatTheDriverDecidesBy) {
  EXPECT_THAT(state(), HasSubstr("580.159.04"));
  EXPECT_THAT(state(), HasSubstr("NVIDIA H200"));
  EXPECT_THAT(state(), HasSubstr("nvidia0"));
  EXPECT_EQ(state(), state());
}

TEST_F(DriverState, ChangesWithEachOfThem) {
  std::string before = state();
  const auto changes = [&] { return before != std::exchange(before, state()); };
  EXPECT_FALSE(changes());
  tree_.write("proc/version", "NVRM version: 590.10\n");
  EXPECT_TRUE(changes());
  tree_.write("proc/gpus/0000:00:07.0/information", "Model: NVIDIA H200\n");
  EXPECT_TRUE(changes());
  tree_.write("proc/capabilities/gpu0/mig/gi1/access");
  EXPECT_TRUE(changes());
  tree_.write("dev/nvidia1");
  EXPECT_TRUE(changes());
  const test::Variable visible("CUDA_VISIBLE_DEVICES", "1");
  EXPECT_TRUE(changes());
  const test::Variable library("EINKORN_LIBCUDA", "/nowhere/libcuda.so.1");
  EXPECT_TRUE(changes());
}

TEST_F(DriverState, IsEmptyWithoutADriver) {
  EXPECT_EQ(driver_state(tree_.path("nowhere"), tree_.path("dev")), "");
}

class RememberedDevice : public testing::Test {
 protected:
  static DeviceInfo toy(int index) {
    DeviceInfo out;
    out.device = cuda_device(index);
    out.name = "Toy GPU 80GB";
    out.present = true;
    out.cc = 90;
    out.sm_count = 132 + index;
    out.max_threads_per_sm = 2048;
    out.smem_per_block_optin = 232448;
    out.smem_per_sm = 233472;
    out.l2_bytes = 50 << 20;
    out.datasheet_gbps = 3350.5;
    return out;
  }
  static void expect_toy(int index, const std::string& state) {
    const std::optional<DeviceInfo> got = remembered_device(index, state);
    ASSERT_TRUE(got);
    const DeviceInfo want = toy(index);
    EXPECT_EQ(got->device, want.device);
    EXPECT_EQ(got->name, want.name);
    EXPECT_TRUE(got->present);
    EXPECT_EQ(got->cc, want.cc);
    EXPECT_EQ(got->sm_count, want.sm_count);
    EXPECT_EQ(got->max_threads_per_sm, want.max_threads_per_sm);
    EXPECT_EQ(got->smem_per_block_optin, want.smem_per_block_optin);
    EXPECT_EQ(got->smem_per_sm, want.smem_per_sm);
    EXPECT_EQ(got->l2_bytes, want.l2_bytes);
    EXPECT_EQ(got->datasheet_gbps, want.datasheet_gbps);
  }

  const test::FileTree tree_;
  const test::Variable cache_{"EINKORN_CACHE_DIR", tree_.path("cache")};
};

TEST_F(RememberedDevice, IsWhatTheDriverSaid) {
  EXPECT_FALSE(remembered_device(0, "one"));
  EXPECT_TRUE(remember_device(toy(0), "one"));
  EXPECT_TRUE(remember_device(toy(1), "one"));
  expect_toy(0, "one");
  expect_toy(1, "one");
  EXPECT_FALSE(remembered_device(2, "one"));
}

TEST_F(RememberedDevice, IsForgottenWithItsState) {
  remember_device(toy(0), "one");
  EXPECT_FALSE(remembered_device(0, "two"));
  remember_device(toy(1), "two");
  EXPECT_FALSE(remembered_device(0, "two"));
  EXPECT_FALSE(remembered_device(0, "one"));
}

TEST_F(RememberedDevice, IsNoneInADamagedFile) {
  remember_device(toy(0), "one");
  const std::string path = tree_.path("cache/devices.json");
  const std::string text = read_file(path).text;
  for (const std::string& damaged : {text.substr(0, text.size() / 2), std::string("[1]"),
                                     std::string(R"({"state": "one", "devices": {"0": {}}})"),
                                     std::string(R"({"state": "one", "devices": 3})")}) {
    tree_.write("cache/devices.json", damaged);
    EXPECT_FALSE(remembered_device(0, "one")) << damaged;
  }
  remember_device(toy(0), "one");
  expect_toy(0, "one");
}

TEST_F(RememberedDevice, IsDescribedWithoutAskingAgain) {
  const auto not_here = []() -> Device { throw std::out_of_range("not here"); };
  EXPECT_THROW(describe_here(0, not_here, "one"), std::out_of_range);
  EXPECT_EQ(describe_here(0, [] { return kCpuDevice; }, "one").name, cpu_info().name);
  EXPECT_THROW(describe_here(0, not_here, "one"), std::out_of_range);  // a CPU is not kept
  remember_device(toy(0), "one");
  if (cuda::driver_loaded()) GTEST_SKIP() << "a driver that runs is asked";
  EXPECT_EQ(describe_here(0, not_here, "one").sm_count, toy(0).sm_count);
  EXPECT_THROW(describe_here(0, not_here, "two"), std::out_of_range);
}

TEST_F(RememberedDevice, IsNotKeptWithoutAStateNorForCpus) {
  EXPECT_FALSE(remember_device(toy(0), ""));
  DeviceInfo cpu = toy(0);
  cpu.device = kCpuDevice;
  EXPECT_FALSE(remember_device(cpu, "one"));
  EXPECT_THAT(tree_.entries(), testing::IsEmpty());
}

}  // namespace
}  // namespace einkorn
