#include <gtest/gtest.h>

#include <random>
#include <vector>

#include <einkorn/match.h>

namespace einkorn {
namespace {

using Sizes = std::vector<std::int64_t>;

alignas(256) char memory[1 << 16];

bool refused(const TensorView& y, const TensorView& x, Overlap allowed = Overlap::kNone) {
  try {
    check_overlap("op", "y", y, "x", x, allowed);
    return false;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kValue);
    return true;
  }
}

/// Which half-bytes of `memory` a tensor has, element by element: the obvious answer.
std::vector<bool> nibbles(const TensorView& x) {
  std::vector<bool> result(16384);
  const std::int64_t base = (x.data_as<char>() - memory) * 2;
  const std::int64_t width = bits(x.dtype()) / 4;
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    std::int64_t rest = i;
    std::int64_t offset = 0;
    for (std::size_t dim = x.shape().size(); dim-- > 0;) {
      offset += rest % x.shape()[dim] * x.strides()[dim];
      rest /= x.shape()[dim];
    }
    for (std::int64_t n = 0; n < width; ++n) {
      result.at(static_cast<std::size_t>(base + offset * width + n)) = true;
    }
  }
  return result;
}

bool really_overlap(const TensorView& a, const TensorView& b) {
  const auto in_a = nibbles(a);
  const auto in_b = nibbles(b);
  for (std::size_t i = 0; i < in_a.size(); ++i) {
    if (in_a[i] && in_b[i]) return true;
  }
  return false;
}

TEST(Overlap, ColumnSlicesOfOneBufferAreApart) {
  const TensorView buffer(memory, kBF16, {64, 256}, kCpuDevice);
  EXPECT_FALSE(refused(buffer.slice(1, 128, 256), buffer.slice(1, 0, 128)));
  EXPECT_FALSE(refused(buffer.slice(1, 0, 128), buffer.slice(1, 128, 256)));
  EXPECT_FALSE(refused(buffer.slice(1, 0, 100), buffer.slice(1, 200, 256)));
  EXPECT_TRUE(refused(buffer.slice(1, 0, 129), buffer.slice(1, 128, 256)));
  EXPECT_FALSE(refused(buffer.slice(0, 0, 10), buffer.slice(0, 10, 20)));
  EXPECT_TRUE(refused(buffer.slice(0, 0, 11), buffer.slice(0, 10, 20)));
}

TEST(Overlap, ColumnSlicesWithMoreLeadingDimensions) {
  const TensorView buffer(memory, kBF16, {4, 16, 64}, kCpuDevice);
  EXPECT_FALSE(refused(buffer.slice(2, 0, 32), buffer.slice(2, 32, 64)));
  const TensorView flat(memory, kBF16, {64, 64}, kCpuDevice);
  EXPECT_FALSE(refused(flat.slice(1, 0, 32), buffer.slice(2, 32, 64))) << "one flattened";
  EXPECT_FALSE(refused(flat.slice(1, 0, 32), buffer.slice(1, 1, 9).slice(2, 32, 64)));
  EXPECT_FALSE(refused(buffer.slice(2, 0, 32).transpose(0, 1), buffer.slice(2, 32, 64)));
}

TEST(Overlap, ExactlyInPlace) {
  const TensorView x(memory, kBF16, {64, 256}, kCpuDevice);
  EXPECT_FALSE(refused(x, x, Overlap::kExactOrNone));
  EXPECT_TRUE(refused(x, x, Overlap::kNone));
  const TensorView same_size(memory, kF16, {64, 256}, kCpuDevice);
  EXPECT_FALSE(refused(same_size, x, Overlap::kExactOrNone)) << "same element size";
  const TensorView wider(memory, kF32, {64, 128}, kCpuDevice);
  EXPECT_TRUE(refused(wider, x, Overlap::kExactOrNone));
  EXPECT_TRUE(refused(x.slice(0, 0, 32), x, Overlap::kExactOrNone)) << "same start, fewer rows";
  const TensorView square(memory, kBF16, {64, 64}, kCpuDevice);
  EXPECT_TRUE(refused(square.transpose(0, 1), square, Overlap::kExactOrNone));
  const Sizes shape = {1, 64}, strides = {7, 1};
  EXPECT_FALSE(refused(TensorView(memory, kBF16, shape, strides, kCpuDevice),
                       TensorView(memory, kBF16, {1, 64}, kCpuDevice), Overlap::kExactOrNone))
      << "a stride of a size of 1 does not matter";
}

TEST(Overlap, NothingIsSharedByMissingEmptyOrForeignTensors) {
  const TensorView x(memory, kF32, {8}, kCpuDevice);
  EXPECT_FALSE(refused(TensorView(), x));
  EXPECT_FALSE(refused(x, TensorView()));
  EXPECT_FALSE(refused(x, TensorView(memory, kF32, {0}, kCpuDevice)));
  EXPECT_FALSE(refused(x, TensorView(memory, kF32, {8}, cuda_device(0)))) << "another device";
}

TEST(Overlap, BroadcastInputs) {
  const Sizes shape = {4, 8}, strides = {0, 1};
  const TensorView row(memory, kF32, shape, strides, kCpuDevice);
  const TensorView apart(memory + 32, kF32, {4, 8}, kCpuDevice);
  EXPECT_FALSE(refused(apart, row));
  EXPECT_TRUE(refused(TensorView(memory + 28, kF32, {4, 8}, kCpuDevice), row));
}

TEST(Overlap, NegativeStridesAndHalfBytes) {
  const Sizes shape = {5}, strides = {-1};
  const TensorView up(memory + 2, kU4, {4}, kCpuDevice);  // half-bytes 4 to 7
  EXPECT_FALSE(refused(TensorView(memory + 4, kU4, {4}, kCpuDevice), up));
  EXPECT_FALSE(refused(TensorView(memory + 6, kU4, shape, strides, kCpuDevice), up)) << "8 to 12";
  EXPECT_TRUE(refused(TensorView(memory + 5, kU4, shape, strides, kCpuDevice), up)) << "6 to 10";
}

/// A random view of one buffer, as slicing, transposing and merging of dimensions give.
TensorView random_view(std::mt19937& rng, const TensorView& buffer) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(n));
  };
  TensorView view = buffer;
  for (int dim = 0; dim < view.rank(); ++dim) {
    if (below(3) == 0) continue;
    const std::int64_t start = below(view.size(dim));
    view = view.slice(dim, start, start + 1 + below(view.size(dim) - start));
  }
  if (below(2) == 0) {
    view =
        view.transpose(static_cast<int>(below(view.rank())), static_cast<int>(below(view.rank())));
  }
  return view;
}

TEST(Overlap, ViewsOfOneBufferAreJudgedExactly) {
  std::mt19937 rng(1);  // NOLINT(bugprone-random-generator-seed): the same every time
  const std::vector<Sizes> shapes = {{24, 10},      {4, 6, 10}, {2, 2, 6, 10},
                                     {4, 3, 2, 10}, {240},      {12, 2, 2, 5}};
  int apart = 0;
  int interleaved = 0;
  for (int round = 0; round < 5000; ++round) {
    const auto& a_shape = shapes[rng() % shapes.size()];
    const auto& b_shape = shapes[rng() % shapes.size()];
    const TensorView a = random_view(rng, TensorView(memory, kF32, a_shape, kCpuDevice));
    const TensorView b = random_view(rng, TensorView(memory, kF32, b_shape, kCpuDevice));
    const bool expected = really_overlap(a, b);
    ASSERT_EQ(refused(a, b), expected)
        << to_string(a) << " at " << a.data_as<char>() - memory << ", " << to_string(b) << " at "
        << b.data_as<char>() - memory;
    if (!expected) {
      ++apart;
      interleaved += a.extent().begin < b.extent().end && b.extent().begin < a.extent().end;
    }
  }
  EXPECT_GT(apart, 500);
  EXPECT_GT(interleaved, 100) << "the interesting case has to occur";
}

TEST(Overlap, NoSharedMemoryIsEverMissed) {
  std::mt19937 rng(2);  // NOLINT(bugprone-random-generator-seed): the same every time
  const DType dtypes[] = {kU4, kU8, kBF16, kF32};
  int shared = 0;
  for (int round = 0; round < 5000; ++round) {
    TensorView views[2];
    for (TensorView& view : views) {
      const DType dtype = dtypes[rng() % 4];
      Sizes shape, strides;
      for (std::uint64_t dims = rng() % 4; dims > 0; --dims) {
        shape.push_back(static_cast<std::int64_t>(1 + rng() % 5));
        strides.push_back(static_cast<std::int64_t>(rng() % 25) - 8);
      }
      const std::size_t element = static_cast<std::size_t>(std::max(bits(dtype) / 8, 1));
      view = TensorView(memory + 4096 + rng() % 64 * element, dtype, shape, strides, kCpuDevice);
    }
    if (!really_overlap(views[0], views[1])) continue;
    ++shared;
    ASSERT_TRUE(refused(views[0], views[1])) << to_string(views[0]) << ", " << to_string(views[1]);
    ASSERT_TRUE(refused(views[1], views[0])) << to_string(views[0]) << ", " << to_string(views[1]);
  }
  EXPECT_GT(shared, 500);
}

}  // namespace
}  // namespace einkorn
