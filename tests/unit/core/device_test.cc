#include <einkorn/device.h>

#include <einkorn/error.h>
#include <gtest/gtest.h>

#include "tests/unit/golden.h"

namespace einkorn {
namespace {

TEST(Device, TextAndBack) {
  for (Device device : {kCpuDevice, cuda_device(0), cuda_device(1), cuda_device(15)}) {
    EXPECT_EQ(parse_device(to_string(device)), device);
  }
  EXPECT_EQ(to_string(kCpuDevice), "cpu");
  EXPECT_EQ(to_string(cuda_device(3)), "cuda:3");
  EXPECT_EQ(parse_device("cuda"), cuda_device(0));
}

TEST(Device, BadTextIsRefused) {
  for (const char* text : {"", "CPU", "cpu:0", "cuda:", "cuda:-1", "cuda:1x", "cuda: 1", "gpu",
                           "cuda:99999999999", "cuda:+1"}) {
    EXPECT_THROW(parse_device(text), Error) << text;
  }
}

TEST(Device, Ordering) {
  EXPECT_LT(kCpuDevice, cuda_device(0));
  EXPECT_LT(cuda_device(0), cuda_device(1));
  EXPECT_EQ(cuda_device(2), (Device{DeviceKind::kCuda, 2}));
}

TEST(Device, Dlpack) {
  EXPECT_EQ(from_dlpack(to_dlpack(kCpuDevice)), kCpuDevice);
  EXPECT_EQ(from_dlpack(to_dlpack(cuda_device(5))), cuda_device(5));
  EXPECT_EQ(from_dlpack(DLDevice{kDLCUDAHost, 1}), kCpuDevice);
  EXPECT_EQ(from_dlpack(DLDevice{kDLCUDAManaged, 1}), cuda_device(1));
}

TEST(Device, Streams) {
  int handle = 0;
  EXPECT_EQ(Stream::cpu().device, kCpuDevice);
  EXPECT_EQ(Stream::cuda(1, &handle).handle, &handle);
  EXPECT_EQ(Stream::cuda(1, &handle).device, cuda_device(1));
  EXPECT_EQ(Stream::cuda_legacy_default(2).handle, nullptr);
  EXPECT_EQ(Stream::cuda_legacy_default(2).device, cuda_device(2));
}

TEST(Device, Errors) {
  test::GoldenErrors errors("errors/device.txt");
  errors.add("unknown text", [] { parse_device("gpu0"); });
  errors.add("unknown DLPack device", [] { from_dlpack(DLDevice{kDLMetal, 0}); });
  errors.add("negative index", [] { from_dlpack(DLDevice{kDLCUDA, -1}); });
}

}  // namespace
}  // namespace einkorn
