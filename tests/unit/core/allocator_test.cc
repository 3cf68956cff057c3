#include "src/core/allocator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include <einkorn/error.h>
#include <einkorn/tensor.h>

#include "tests/unit/golden.h"

namespace einkorn {
namespace {

/// "Device" memory that is host memory, and counts what is asked of it.
class FakeCuda final : public Allocator {
 public:
  void* allocate(std::size_t bytes, int index) override {
    ++live;
    last_index = index;
    return std::aligned_alloc(256, (bytes / 256 + 1) * 256);
  }
  void deallocate(void* data, int) noexcept override {
    --live;
    std::free(data);
  }
  void copy(void* to, Device, const void* from, Device, std::size_t bytes) override {
    ++copies;
    std::memcpy(to, from, bytes);
  }
  void fill(void* data, std::uint8_t value, std::size_t bytes, int) override {
    std::memset(data, value, bytes);
  }

  std::atomic<int> live = 0;
  int copies = 0;
  int last_index = -1;
};

FakeCuda fake;

/// Puts back whatever backend the program has.
class AllocatorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    previous_ = exchange_allocator(DeviceKind::kCuda, nullptr);
    previous_init_ = exchange_backend_init(DeviceKind::kCuda, nullptr);
  }
  void TearDown() override {
    exchange_allocator(DeviceKind::kCuda, previous_);
    exchange_backend_init(DeviceKind::kCuda, previous_init_);
  }

 private:
  Allocator* previous_ = nullptr;
  BackendInit previous_init_ = nullptr;
};

TEST_F(AllocatorTest, CpuTensorsAreAlignedWritableAndReleased) {
  for (std::int64_t size : {0, 1, 255, 256, 100000}) {
    Tensor x = Tensor::empty({size}, kU8, kCpuDevice);
    ASSERT_NE(x.view().data(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.view().data()) % 256, 0U);
    x.fill_bytes(0xab);
    for (std::int64_t i = 0; i < size; ++i) {
      ASSERT_EQ(x.view().data_as<std::uint8_t>()[i], 0xab);
    }
  }
}

TEST_F(AllocatorTest, CopiesShareStorageAndToMakesAnother) {
  Tensor x = Tensor::empty({3}, kF32, kCpuDevice);
  x.fill_bytes(0);
  const Tensor alias = x;
  const Tensor other = x.to(kCpuDevice);
  x.fill_bytes(1);
  EXPECT_EQ(alias.view().data(), x.view().data());
  EXPECT_EQ(alias.view().data_as<std::uint8_t>()[0], 1);
  EXPECT_EQ(other.view().data_as<std::uint8_t>()[0], 0);
  EXPECT_FALSE(Tensor().defined());
}

TEST_F(AllocatorTest, BackendIsAskedOnceAndReleasesItsMemory) {
  static int inits;
  inits = 0;
  exchange_backend_init(DeviceKind::kCuda, [] {
    ++inits;
    set_allocator(DeviceKind::kCuda, &fake);
  });
  fake.copies = 0;
  {
    const Tensor host = Tensor::empty({4}, kI32, kCpuDevice);
    for (int i = 0; i < 4; ++i) host.view().data_as<std::int32_t>()[i] = i;
    const Tensor device = host.to(cuda_device(2));
    EXPECT_EQ(device.view().device(), cuda_device(2));
    EXPECT_EQ(fake.last_index, 2);
    set_allocator(DeviceKind::kCuda, nullptr);  // memory still goes back to the one that gave it
    set_allocator(DeviceKind::kCuda, &fake);
    const Tensor back = device.to(kCpuDevice);
    EXPECT_EQ(back.view().data_as<std::int32_t>()[3], 3);
    EXPECT_EQ(fake.copies, 2);
    EXPECT_EQ(fake.live, 1);
  }
  EXPECT_EQ(fake.live, 0);
  EXPECT_EQ(inits, 1);
}

TEST_F(AllocatorTest, InitThatThrowsIsTriedAgain) {
  static int inits;
  inits = 0;
  exchange_backend_init(DeviceKind::kCuda, [] {
    if (++inits == 1) throw_error(ErrorKind::kRuntime, "driver: expected one, got none");
    set_allocator(DeviceKind::kCuda, &fake);
  });
  EXPECT_THROW(Tensor::empty({1}, kF32, cuda_device(0)), Error);
  EXPECT_NO_THROW(Tensor::empty({1}, kF32, cuda_device(0)));
  EXPECT_EQ(inits, 2);
}

TEST_F(AllocatorTest, ThreadsInitialiseOnce) {
  static std::atomic<int> inits;
  inits = 0;
  exchange_backend_init(DeviceKind::kCuda, [] {
    ++inits;
    set_allocator(DeviceKind::kCuda, &fake);
  });
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] { (void)allocator(DeviceKind::kCuda); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(inits, 1);
}

TEST_F(AllocatorTest, EmptyCopiesTouchNothing) {
  const TensorView none(nullptr, kF32, {0, 4}, kCpuDevice);
  EXPECT_NO_THROW(copy(none, none));
}

TEST_F(AllocatorTest, Errors) {
  test::GoldenErrors errors("errors/memory.txt");
  errors.add("no backend", [] { Tensor::empty({2}, kF32, cuda_device(0)); });
  errors.add("negative size", [] { Tensor::empty({-2}, kF32, kCpuDevice); });
  errors.add("no tensor to move", [] { (void)Tensor().to(kCpuDevice); });

  const Tensor x = Tensor::empty({2, 3}, kF32, kCpuDevice);
  const TensorView view = x;
  errors.add("copy from nothing", [&] { copy(TensorView(), view); });
  errors.add("copy between dtypes", [&] { copy(view, Tensor::empty({2, 3}, kI32, kCpuDevice)); });
  errors.add("copy between shapes", [&] { copy(view, Tensor::empty({3, 2}, kF32, kCpuDevice)); });
  errors.add("copy to strided memory", [&] {
    const Tensor wide = Tensor::empty({2, 6}, kF32, kCpuDevice);
    copy(view, wide.view().slice(1, 0, 3));
  });
  errors.add("copy to null", [&] { copy(view, TensorView(nullptr, kF32, {2, 3}, kCpuDevice)); });

  // The machine's size is in this text, so it has no golden file.
  const std::string text =
      test::error_text([] { Tensor::empty({std::int64_t{1} << 50}, kF64, kCpuDevice); });
  EXPECT_TRUE(text.starts_with("RuntimeError: memory: expected at most ")) << text;
  EXPECT_NE(text.find("got a request for 9007199254740992"), std::string::npos) << text;
}

}  // namespace
}  // namespace einkorn
