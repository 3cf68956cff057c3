#include <einkorn/match.h>

#include <gtest/gtest.h>

#include <vector>

namespace einkorn {
namespace {

alignas(256) char memory[1 << 16];

TensorView tensor(std::vector<std::int64_t> shape, DType dtype = kF32, Device device = kCpuDevice) {
  return {memory, dtype, shape, device};
}

template <class... Specs>
bool fits(const TensorView& x, Specs&&... specs) {
  try {
    return match("op", "x", x).shape(std::forward<Specs>(specs)...).verify();
  } catch (const Error&) {
    return false;
  }
}

TEST(MatchShape, FixedFreeAndRange) {
  EXPECT_TRUE(fits(tensor({2, 3}), 2, 3));
  EXPECT_FALSE(fits(tensor({2, 3}), 2, 4));
  EXPECT_TRUE(fits(tensor({2, 3}), kAny, 3));
  EXPECT_TRUE(fits(tensor({2, 3}), Range{2, 2}, Range{1, 3}));
  EXPECT_FALSE(fits(tensor({2, 3}), Range{3, 5}, kAny));
  EXPECT_FALSE(fits(tensor({2, 3}), Range{0, 1}, kAny));
  EXPECT_TRUE(fits(tensor({}))) << "a scalar";
  EXPECT_TRUE(fits(tensor({2, 3}), std::int64_t{2}, 3U)) << "any integer type";
}

TEST(MatchShape, RankHasToFit) {
  EXPECT_FALSE(fits(tensor({2, 3}), kAny));
  EXPECT_FALSE(fits(tensor({2, 3}), kAny, kAny, kAny));
  EXPECT_FALSE(fits(tensor({2})));
}

TEST(MatchShape, WithoutAPatternAnyShapeFits) {
  const TensorView x = tensor({2, 3, 4});
  EXPECT_TRUE(match("op", "x", x).verify());
}

TEST(MatchShape, NamesBindThenAgree) {
  Dim rows{"rows"}, cols{"cols"};
  EXPECT_TRUE(fits(tensor({2, 3}), rows, cols));
  EXPECT_EQ(rows.value(), 2);
  EXPECT_EQ(cols.value(), 3);
  EXPECT_EQ(cols.from(), "x");
  EXPECT_TRUE(fits(tensor({3}), cols));
  EXPECT_FALSE(fits(tensor({2}), cols));
  EXPECT_TRUE(fits(tensor({3, 2}), cols, rows));
}

TEST(MatchShape, ANameTwiceInOneTensorHasToAgree) {
  Dim n{"n"};
  EXPECT_FALSE(fits(tensor({4, 5}), n, n));
  EXPECT_FALSE(n.bound());
  EXPECT_TRUE(fits(tensor({4, 4}), n, n));
}

TEST(MatchShape, RangesOfNamesAreInclusive) {
  for (const auto& [size, good] :
       std::vector<std::pair<std::int64_t, bool>>{{0, false}, {1, true}, {8, true}, {9, false}}) {
    Dim cols{"cols", Range{1, 8}};
    EXPECT_EQ(fits(tensor({size}), cols), good) << size;
    EXPECT_EQ(cols.bound(), good) << size;
  }
}

TEST(MatchShape, Divisibility) {
  Dim cols{"cols", Range{8, 64}, MultipleOf{8}};
  EXPECT_FALSE(fits(tensor({12}), cols));
  EXPECT_FALSE(fits(tensor({72}), cols));
  EXPECT_TRUE(fits(tensor({64}), cols));
}

TEST(MatchShape, Products) {
  Dim n{"n"}, m{"m"};
  EXPECT_TRUE(fits(tensor({3}), n));
  EXPECT_TRUE(fits(tensor({6}), n * 2));
  EXPECT_TRUE(fits(tensor({6}), 2 * n));
  EXPECT_FALSE(fits(tensor({7}), n * 2));
  EXPECT_TRUE(fits(tensor({12}), n * m * 2)) << "binds m";
  EXPECT_EQ(m.value(), 2);
  EXPECT_FALSE(fits(tensor({5}), n * m));
  EXPECT_TRUE(fits(tensor({9}), n * n));
}

TEST(MatchShape, ProductsBindTheirName) {
  Dim n{"n", Range{1, 10}};
  EXPECT_FALSE(fits(tensor({7}), n * 2)) << "no whole n";
  EXPECT_FALSE(fits(tensor({22}), n * 2)) << "n = 11 is out of range";
  EXPECT_FALSE(n.bound());
  EXPECT_TRUE(fits(tensor({14, 7}), n * 2, n));
  EXPECT_EQ(n.value(), 7);
}

TEST(MatchShape, Quotients) {
  Dim n{"n"}, even{"even"};
  EXPECT_TRUE(fits(tensor({5}), n));
  EXPECT_FALSE(fits(tensor({2}), n / 2)) << "not whole";
  EXPECT_TRUE(fits(tensor({3}), ceil_div(n, 2)));
  EXPECT_FALSE(fits(tensor({2}), ceil_div(n, 2)));
  EXPECT_TRUE(fits(tensor({1}), ceil_div(n, 128)));
  EXPECT_TRUE(fits(tensor({8}), ceil_div(n * 3, 2)));
  EXPECT_TRUE(fits(tensor({4}), even / 2)) << "binds even = 8";
  EXPECT_EQ(even.value(), 8);
  EXPECT_TRUE(fits(tensor({12}), even * 3 / 2));
}

TEST(MatchShape, ZeroSizesInProducts) {
  Dim n{"n"}, m{"m"};
  EXPECT_TRUE(fits(tensor({0}), n));
  EXPECT_TRUE(fits(tensor({0}), n * 4));
  EXPECT_TRUE(fits(tensor({0}), ceil_div(n, 4)));
  EXPECT_FALSE(fits(tensor({0}), n * m)) << "m cannot be known";
}

TEST(MatchShape, OverflowingProductsDoNotWrap) {
  Dim big{"big"};
  big.bind("op", "big", std::int64_t{1} << 62);
  EXPECT_FALSE(fits(tensor({0}), big * 4)) << "2^64 is not 0";
}

TEST(MatchShape, LeadingDimensions) {
  Leading lead;
  Dim cols{"cols"};
  EXPECT_TRUE(fits(tensor({2, 3, 5}), lead, cols));
  EXPECT_EQ(lead.rank(), 2);
  EXPECT_EQ(lead.rows(), 6);
  EXPECT_EQ(cols.value(), 5);
  EXPECT_TRUE(fits(tensor({2, 3, 5}), lead, cols));
  EXPECT_TRUE(fits(tensor({2, 3}), lead)) << "alone";
  EXPECT_FALSE(fits(tensor({3, 2, 5}), lead, cols)) << "same product, other sizes";
  EXPECT_FALSE(fits(tensor({6, 5}), lead, cols)) << "other rank";
  EXPECT_FALSE(fits(tensor({2, 3, 6}), lead, cols));
}

TEST(MatchShape, LeadingMayBeNoneOrEmpty) {
  Leading none;
  EXPECT_TRUE(fits(tensor({5}), none, 5));
  EXPECT_EQ(none.rank(), 0);
  EXPECT_EQ(none.rows(), 1);
  EXPECT_FALSE(fits(tensor({}), none, 5)) << "the last dimension is missing";
  Leading empty;
  EXPECT_TRUE(fits(tensor({4, 0, 5}), empty, 5));
  EXPECT_EQ(empty.rows(), 0);
  Leading most;
  EXPECT_TRUE(fits(tensor({1, 2, 1, 2, 1, 2, 1, 2}), most, 1, 2));
  EXPECT_EQ(most.rank(), 6);
}

TEST(MatchShape, EllipsisBindsNothing) {
  EXPECT_TRUE(fits(tensor({2, 3, 5}), kEllipsis, 5));
  EXPECT_TRUE(fits(tensor({5}), kEllipsis, 5));
  EXPECT_FALSE(fits(tensor({2, 3}), kEllipsis, 5));
  EXPECT_TRUE(fits(tensor({}), kEllipsis));
}

TEST(MatchShape, PatternGivenAtRunTime) {
  Dim cols{"cols"};
  TensorMatcher matcher("op");
  {
    std::vector<DimSpec> specs = {2, cols};
    matcher = matcher.shape(std::span<const DimSpec>(specs));
  }  // the matcher has its own copy
  const TensorView x = tensor({2, 7});
  EXPECT_TRUE(matcher.verify("x", x));
  EXPECT_EQ(cols.value(), 7);
}

TEST(MatchShape, LargeSizesStayWhole) {
  Dim rows{"rows"}, cols{"cols"};
  const TensorView x(memory, kU8, {std::int64_t{1} << 40, 8}, kCpuDevice);
  EXPECT_TRUE(match("op", "x", x).shape(rows, cols).contiguous().verify());
  EXPECT_EQ(rows.value(), std::int64_t{1} << 40);
  Dim half{"half"};
  EXPECT_TRUE(fits(x, half * 2, 8));
  EXPECT_EQ(half.value(), std::int64_t{1} << 39);
}

}  // namespace
}  // namespace einkorn
