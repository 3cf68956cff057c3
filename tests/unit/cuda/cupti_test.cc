#include "src/cuda/cupti.h"

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cuda/gpu_fixture.h"
#include "tests/unit/file_tree.h"

namespace einkorn::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Cupti, VersionsOfBothSchemes) {
  EXPECT_EQ(describe_cupti_version(130001), "13.0.1");
  EXPECT_EQ(describe_cupti_version(131204), "13.12.4");
  EXPECT_EQ(describe_cupti_version(28), "API 28");
}

TEST(Cupti, SaysWhereItWasLookedFor) {
  SearchRoots roots;
  roots.override_path = "/nonexistent/libcupti.so.13";
  try {
    static_cast<void>(DynamicLibrary::open(cupti_spec(), roots));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("libcupti: missing: EINKORN_CUPTI=/nonexistent"),
                                    HasSubstr("hint: ")));
  }
}

class KernelRecorderTest : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    try {
      static_cast<void>(cupti());
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

TEST_F(KernelRecorderTest, KernelsInTheOrderOfTheirLaunches) {
  const ContextGuard context(0);
  const OwnedStream stream(0);
  const Tensor out = zeros(1024);
  const Kernel one = kernel("gpu_test::add<1>");
  const Kernel two = kernel("gpu_test::add<2>");
  KernelRecorder recorder;
  EXPECT_THROW(KernelRecorder(), Error) << "one at a time";
  for (const Kernel& each : {one, two, one}) {
    launch(each, {.grid = {8}, .block = {128}}, stream.get(), out.view().data_as<int>(), 1024);
  }
  stream.synchronize();
  const std::vector<KernelRecord> records = recorder.take();
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].name, records[2].name);
  EXPECT_NE(records[0].name, records[1].name);
  for (const KernelRecord& record : records) {
    EXPECT_EQ(record.grid, (Dim3{8}));
    EXPECT_EQ(record.block, (Dim3{128}));
    EXPECT_GT(record.registers, 0);
    EXPECT_GT(record.end_ns, record.start_ns);
    EXPECT_EQ(record.stream, records[0].stream);
  }
  EXPECT_LE(records[0].end_ns, records[1].start_ns);
  EXPECT_TRUE(recorder.take().empty()) << "each is given once";
}

TEST_F(KernelRecorderTest, RecordsOnlyWhileItLives) {
  const OwnedStream stream(0);
  const Tensor out = zeros(1024);
  const Kernel one = kernel("gpu_test::add<1>");
  {
    const KernelRecorder recorder;
  }
  launch(one, {.grid = {8}, .block = {128}}, stream.get(), out.view().data_as<int>(), 1024);
  stream.synchronize();
  KernelRecorder recorder;
  EXPECT_TRUE(recorder.take().empty());
}

}  // namespace
}  // namespace einkorn::cuda
