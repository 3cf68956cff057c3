#include <cstdlib>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cuda/driver.h"
#include "src/cuda/known_devices.h"
#include "src/cuda/matmul.h"
#include "tests/unit/golden.h"

namespace einkorn::cuda {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(KnownDevice, EveryNameIsDescribedInFull) {
  for (std::string_view name : known_device_names()) {
    SCOPED_TRACE(std::string(name));
    const DeviceInfo info = known_device(name);
    EXPECT_FALSE(info.present);
    EXPECT_EQ(info.device.kind, DeviceKind::kCuda);
    EXPECT_GE(info.cc, 80);
    EXPECT_GT(info.sm_count, 0);
    EXPECT_GE(info.max_threads_per_sm, 1536);
    // The runtime keeps 1 KiB of each block's shared memory for itself.
    EXPECT_EQ(info.smem_per_sm - info.smem_per_block_optin, 1024);
    EXPECT_GT(info.l2_bytes, 1 << 20);
    if (!name.starts_with("sm_")) {
      EXPECT_GT(info.datasheet_gbps, 500);
    }
  }
}

TEST(KnownDevice, H100AsTheDatasheetHasIt) {
  const DeviceInfo info = known_device("h100");
  EXPECT_EQ(info.cc, 90);
  EXPECT_EQ(info.sm_count, 132);
  EXPECT_EQ(info.smem_per_block_optin, 232448);
  EXPECT_EQ(info.datasheet_gbps, 3350);
  EXPECT_EQ(datasheet_gbps_of("NVIDIA H100 80GB HBM3"), 3350);
  EXPECT_EQ(datasheet_gbps_of("NVIDIA H100 PCIe"), 2039);
}

TEST(KnownDevice, UnknownNameListsTheKnown) {
  test::GoldenErrors errors("errors/known_device.txt");
  errors.add("unknown device", [] { known_device("h1000"); });
}

TEST(Throttle, NamesEveryReason) {
  EXPECT_EQ(describe_throttle(0), "none");
  EXPECT_EQ(describe_throttle(0x4 | 0x40), "power cap, thermal (hardware)");
  EXPECT_EQ(describe_throttle(0x1 | 0x8000), "idle, 0x8000");
}

/// Runs `body` with the environment variable set, in a process where nothing is loaded yet.
template <class Body>
void in_child_with(const char* variable, const char* value, Body body) {
  EXPECT_EXIT(
      {
        setenv(variable, value, 1);
        body();
        std::exit(testing::Test::HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

class MissingDriver : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(MissingDriver, IsAReasonNotAFailure) {
  in_child_with("EINKORN_LIBCUDA", "/nowhere/libcuda.so.1", [] {
    std::string reason;
    EXPECT_FALSE(available(&reason));
    EXPECT_THAT(reason, StartsWith("libcuda: missing: EINKORN_LIBCUDA=/nowhere/libcuda.so.1"));
    EXPECT_FALSE(available());
    EXPECT_EQ(device_count(), 0);
    EXPECT_FALSE(driver_loaded());
  });
}

TEST_F(MissingDriver, IsATypedErrorWhereADriverIsNeeded) {
  in_child_with("EINKORN_LIBCUDA", "/nowhere/libcuda.so.1", [] {
    const auto expect_missing = [](const std::function<void()>& call) {
      EXPECT_THAT(test::error_text(call), StartsWith("RuntimeError: libcuda: missing"));
    };
    expect_missing([] { device_info(0); });
    expect_missing([] { const ContextGuard guard(0); });
    expect_missing([] { const OwnedStream stream(0); });
    expect_missing([] { const Event event(0); });
    expect_missing([] { synchronize(Stream::cuda_legacy_default(0)); });
    expect_missing([] { sample_clocks(0); });
    const std::byte cubin[1] = {};
    expect_missing([&] { Module::load(cubin, "m"); });
  });
}

TEST_F(MissingDriver, ALibraryWithoutTheFunctionsIsNamed) {
  // The C library is there on every machine and exports none of them.
  in_child_with("EINKORN_LIBCUDA", "libc.so.6", [] {
    std::string reason;
    EXPECT_FALSE(available(&reason));
    EXPECT_THAT(reason, HasSubstr("function cuDriverGetVersion is missing from"));
  });
}

TEST_F(MissingDriver, NvmlIsOptional) {
  in_child_with("EINKORN_NVML", "/nowhere/libnvidia-ml.so.1",
                [] { EXPECT_EQ(driver_version(), ""); });
}

TEST(Streams, CpuStreamsAreRefusedByName) {
  EXPECT_EQ(test::error_text([] { synchronize(Stream::cpu()); }),
            "ValueError: stream: expected a CUDA stream, got one of cpu");
}

TEST(Kernels, AnEmptyKernelIsRefused) {
  EXPECT_EQ(test::error_text([] { Kernel().launch({}, Stream::cuda_legacy_default(0), nullptr); }),
            "ValueError: kernel: expected a loaded one, got an empty one");
}

TEST(MeasureMatmul, RefusesADtypeItHasNoRateFor) {
  EXPECT_EQ(test::error_text([] { measure_matmul_tflops(0, kI64); }),
            "ValueError: measure: dtype: expected f32, f16, bf16 or f8e4m3, got i64");
}

TEST_F(MissingDriver, MatmulRateIsAbsentWithItsReason) {
  in_child_with("EINKORN_CUBLASLT", "/nowhere/libcublasLt.so.13", [] {
    std::string reason;
    EXPECT_EQ(measure_matmul_tflops(0, kBF16, &reason), std::nullopt);
    EXPECT_THAT(reason, StartsWith("libcublasLt: missing"));
  });
}

}  // namespace
}  // namespace einkorn::cuda
