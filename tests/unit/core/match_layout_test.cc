#include <einkorn/match.h>

#include <gtest/gtest.h>

#include <vector>

namespace einkorn {
namespace {

using Sizes = std::vector<std::int64_t>;

alignas(256) char memory[1 << 16];

TensorView strided(Sizes shape, Sizes strides, DType dtype = kF32, std::size_t byte = 0) {
  return {memory + byte, dtype, shape, strides, kCpuDevice};
}

template <class Rules>
bool passes(const TensorView& x, Rules&& rules) {
  TensorMatcher matcher("op");
  rules(matcher);
  try {
    return matcher.verify("x", x);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kValue) << error.what();
    return false;
  }
}

constexpr auto kContiguous = [](TensorMatcher& m) { (void)m.contiguous(); };
constexpr auto kLastContiguous = [](TensorMatcher& m) { (void)m.last_contiguous(); };
constexpr auto kLastTwo = [](TensorMatcher& m) { (void)m.last_contiguous(2); };
constexpr auto kAligned16 = [](TensorMatcher& m) { (void)m.aligned(16); };
constexpr auto kWritable = [](TensorMatcher& m) { (void)m.writable(); };
constexpr auto kRows = [](TensorMatcher& m) { (void)m.collapsible_rows(); };

TEST(MatchLayout, Contiguous) {
  EXPECT_TRUE(passes(strided({2, 3}, {3, 1}), kContiguous));
  EXPECT_FALSE(passes(strided({2, 3}, {4, 1}), kContiguous));
  EXPECT_FALSE(passes(strided({2, 3}, {1, 2}), kContiguous));
  EXPECT_TRUE(passes(strided({1, 3}, {99, 1}), kContiguous)) << "size 1, any stride";
  EXPECT_TRUE(passes(strided({3, 1, 2}, {2, -5, 1}), kContiguous));
  EXPECT_TRUE(passes(strided({4, 0}, {7, 7}), kContiguous)) << "empty";
  EXPECT_TRUE(passes(strided({0, 4}, {7, 7}), kContiguous)) << "empty";
  EXPECT_TRUE(passes(strided({}, {}), kContiguous));
}

TEST(MatchLayout, LastContiguous) {
  EXPECT_TRUE(passes(strided({2, 3}, {9, 1}), kLastContiguous));
  EXPECT_FALSE(passes(strided({2, 3}, {9, 2}), kLastContiguous));
  EXPECT_TRUE(passes(strided({2, 1}, {9, 2}), kLastContiguous));
  EXPECT_TRUE(passes(strided({0, 3}, {9, 2}), kLastContiguous));
  EXPECT_TRUE(passes(strided({}, {}), kLastContiguous));
  EXPECT_TRUE(passes(strided({2, 3, 4}, {99, 4, 1}), kLastTwo));
  EXPECT_FALSE(passes(strided({2, 3, 4}, {99, 5, 1}), kLastTwo));
  EXPECT_TRUE(passes(strided({4}, {1}), kLastTwo)) << "fewer dimensions than asked for";
}

TEST(MatchLayout, ExplicitStrides) {
  const auto pattern = [](auto&&... specs) {
    return [&](TensorMatcher& m) { (void)m.strides(specs...); };
  };
  EXPECT_TRUE(passes(strided({2, 3}, {8, 2}), pattern(8, 2)));
  EXPECT_FALSE(passes(strided({2, 3}, {8, 2}), pattern(8, 1)));
  EXPECT_TRUE(passes(strided({2, 3}, {8, 2}), pattern(kAny, 2)));
  EXPECT_TRUE(passes(strided({2, 3, 4}, {77, 8, 2}), pattern(kEllipsis, 8, 2)));
  EXPECT_FALSE(passes(strided({2, 3, 4}, {77, 9, 2}), pattern(kEllipsis, 8, 2)));
  EXPECT_TRUE(passes(strided({2, 1}, {8, 5}), pattern(8, 1))) << "size 1, any stride";
  EXPECT_TRUE(passes(strided({0, 3}, {5, 5}), pattern(8, 1))) << "empty, any stride";
  EXPECT_TRUE(passes(strided({2, 3}, {0, 1}), pattern(0, 1))) << "broadcast asked for";
  EXPECT_TRUE(passes(strided({2, 3}, {8, 1}), pattern(Range{3, 10}, 1)));
}

TEST(MatchLayout, NamedStridesBindAndAgree) {
  Dim cols{"cols"}, step{"step"};
  const auto rules = [&](TensorMatcher& m) { (void)m.shape(kAny, cols).strides(step, 1); };
  EXPECT_TRUE(passes(strided({2, 3}, {8, 1}), rules));
  EXPECT_EQ(step.value(), 8);
  EXPECT_TRUE(passes(strided({5, 3}, {8, 1}), rules));
  EXPECT_FALSE(passes(strided({2, 3}, {9, 1}), rules));
  const auto by_cols = [&](TensorMatcher& m) { (void)m.strides(cols * 2, 1); };
  EXPECT_TRUE(passes(strided({2, 3}, {6, 1}), by_cols));
  EXPECT_FALSE(passes(strided({2, 3}, {7, 1}), by_cols));
}

TEST(MatchLayout, StridesThatAreNotLookedAtStayUnbound) {
  Dim step{"step"};
  const auto rules = [&](TensorMatcher& m) { (void)m.strides(step, 1); };
  EXPECT_TRUE(passes(strided({1, 3}, {8, 1}), rules));
  EXPECT_FALSE(step.bound());
  EXPECT_EQ(step.value_or(3), 3);
}

TEST(MatchLayout, NegativeStridesNeedARangeThatHasThem) {
  Dim plain{"plain"}, any{"any", kAnyInt};
  const TensorView x = strided({3, 2}, {-2, 1}, kF32, 64);
  EXPECT_FALSE(passes(x, [&](TensorMatcher& m) { (void)m.strides(plain, 1); }));
  EXPECT_TRUE(passes(x, [&](TensorMatcher& m) { (void)m.strides(any, 1); }));
  EXPECT_EQ(any.value(), -2);
  any.reset();
  const TensorView minus_one = strided({3}, {-1}, kF32, 64);
  EXPECT_TRUE(passes(minus_one, [&](TensorMatcher& m) { (void)m.strides(any); }));
  EXPECT_EQ(any.value(), -1);
}

TEST(MatchLayout, EveryPointerIsAlignedToItsElement) {
  const auto no_rules = [](TensorMatcher&) {};
  for (DType dtype : all_dtypes()) {
    const int size = std::max(bits(dtype) / 8, 1);
    for (int byte = 0; byte <= 16; ++byte) {
      const TensorView x(memory + byte, dtype, {4}, kCpuDevice);
      EXPECT_EQ(passes(x, no_rules), byte % size == 0) << name(dtype) << " at " << byte;
    }
  }
}

TEST(MatchLayout, PointerAlignment) {
  EXPECT_TRUE(passes(strided({4}, {1}, kF32, 16), kAligned16));
  EXPECT_FALSE(passes(strided({4}, {1}, kF32, 8), kAligned16));
  EXPECT_TRUE(passes(strided({0}, {1}, kF32, 8), kAligned16)) << "nothing is read";
  EXPECT_TRUE(
      passes(strided({2, 3}, {3, 1}, kF32, 32), [](TensorMatcher& m) { (void)m.aligned(32, 1); }));
}

TEST(MatchLayout, StrideAlignment) {
  EXPECT_TRUE(passes(strided({2, 3}, {8, 1}, kBF16), kAligned16));
  EXPECT_FALSE(passes(strided({2, 3}, {12, 1}, kBF16), kAligned16));
  EXPECT_TRUE(passes(strided({1, 3}, {12, 1}, kBF16), kAligned16)) << "size 1";
  EXPECT_FALSE(passes(strided({2, 2, 3}, {12, 8, 1}, kBF16), kAligned16));
  EXPECT_TRUE(passes(strided({2, 3}, {0, 1}, kBF16), kAligned16)) << "broadcast rows";
  EXPECT_TRUE(passes(strided({2, 3}, {32, 1}, kU4), kAligned16));
  EXPECT_FALSE(passes(strided({2, 3}, {16, 1}, kU4), kAligned16)) << "8 bytes";
  EXPECT_TRUE(passes(strided({2, 3}, {-8, 1}, kBF16, 64), kAligned16));
}

TEST(MatchLayout, NullOnlyWithoutElements) {
  const auto no_rules = [](TensorMatcher&) {};
  EXPECT_TRUE(passes(TensorView(nullptr, kF32, {0, 3}, kCpuDevice), no_rules));
  EXPECT_FALSE(passes(TensorView(nullptr, kF32, {2, 3}, kCpuDevice), no_rules));
}

TEST(MatchLayout, WritableMeansOneAddressAnElement) {
  EXPECT_TRUE(passes(strided({2, 3}, {3, 1}), kWritable));
  EXPECT_TRUE(passes(strided({2, 3}, {7, 2}), kWritable));
  EXPECT_TRUE(passes(strided({2, 3}, {1, 2}), kWritable));
  EXPECT_TRUE(passes(strided({2, 3}, {-7, 1}, kF32, 64), kWritable));
  EXPECT_TRUE(passes(strided({1, 3}, {0, 1}), kWritable)) << "size 1";
  EXPECT_TRUE(passes(strided({2, 0}, {0, 0}), kWritable)) << "empty";
  EXPECT_FALSE(passes(strided({2, 3}, {0, 1}), kWritable)) << "broadcast";
  EXPECT_FALSE(passes(strided({2, 3}, {2, 1}), kWritable)) << "rows overlap";
  EXPECT_FALSE(passes(strided({3, 3}, {1, 1}), kWritable));
}

TEST(MatchLayout, CollapsibleRows) {
  EXPECT_TRUE(passes(strided({2, 3, 4}, {24, 8, 1}), kRows));
  EXPECT_FALSE(passes(strided({2, 3, 4}, {25, 8, 1}), kRows));
}

TEST(CollapsedRowStride, Cases) {
  using Case = std::tuple<Sizes, Sizes, int, std::optional<std::int64_t>>;
  const std::vector<Case> cases = {
      {{6, 4}, {8, 1}, 1, 8},
      {{2, 3, 4}, {24, 8, 1}, 1, 8},
      {{2, 3, 4}, {25, 8, 1}, 1, std::nullopt},
      {{2, 3, 4}, {8, 16, 1}, 1, std::nullopt},  // transposed
      {{1, 3, 4}, {999, 8, 1}, 1, 8},            // sizes of 1 are ignored
      {{2, 1, 4}, {24, 999, 1}, 1, 24},
      {{1, 1, 4}, {9, 9, 1}, 1, 4},   // one row: the natural stride
      {{4}, {1}, 1, 4},               // no leading dimension
      {{0, 3, 4}, {99, 8, 1}, 1, 4},  // no rows
      {{2, 0, 4}, {99, 8, 1}, 1, 4},
      {{2, 3, 4}, {0, 0, 1}, 1, 0},  // one broadcast row
      {{2, 3, 4}, {8, 0, 1}, 1, std::nullopt},
      {{2, 3, 4}, {-24, -8, 1}, 1, -8},  // upside down
      {{2, 3, 4, 5}, {240, 80, 5, 1}, 2, 80},
      {{1, 1, 4, 5}, {7, 7, 5, 1}, 2, 20},
      {{2, 3}, {6, 2}, 0, 2},  // every element a row
      {{}, {}, 0, 1},
  };
  for (const auto& [shape, strides, trailing, expected] : cases) {
    const TensorView x = strided(shape, strides, kF32, 1024);
    EXPECT_EQ(collapsed_row_stride(x, trailing), expected) << to_string(x);
  }
}

TEST(CollapsedRowStride, RefusesMoreTrailingDimensionsThanThereAre) {
  EXPECT_THROW(collapsed_row_stride(strided({4}, {1}), 2), Error);
}

}  // namespace
}  // namespace einkorn
