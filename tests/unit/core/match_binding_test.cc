#include <einkorn/match.h>

#include <gtest/gtest.h>

#include <functional>
#include <type_traits>
#include <vector>

#include "tests/unit/allocation_count.h"

namespace einkorn {
namespace {

alignas(256) char memory[1 << 16];

TensorView tensor(std::vector<std::int64_t> shape, DType dtype = kF32, Device device = kCpuDevice) {
  return {memory, dtype, shape, device};
}

template <class T>
concept Matchable = requires(T&& tensor) { match("op", "x", std::forward<T>(tensor)); };

ErrorKind kind_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "expected an Error";
  return ErrorKind::kRuntime;
}

TEST(MatchDType, Sets) {
  const TensorView x = tensor({2}, kF16);
  EXPECT_TRUE(match("op", "x", x).dtype(kF32, kF16).verify());
  EXPECT_TRUE(match("op", "x", x).dtype(kF32).dtype(kF16).verify()) << "sets add up";
  EXPECT_EQ(kind_of([&] { match("op", "x", x).dtype(kF32, kBF16).verify(); }), ErrorKind::kType);
  constexpr DTypeSet kSet{kF32, kE8M0};
  static_assert(kSet.has(kF32) && kSet.has(kE8M0) && !kSet.has(kF64));
}

TEST(MatchDType, SharedBindsAndAgrees) {
  DTypeVar dtype{"dtype", {kF32, kF16}};
  const TensorView half = tensor({2}, kF16), single = tensor({2}), brain = tensor({2}, kBF16);
  EXPECT_THROW(match("op", "x", brain).dtype(dtype).verify(), Error);
  EXPECT_FALSE(dtype.bound());
  EXPECT_TRUE(match("op", "x", half).dtype(dtype).verify());
  EXPECT_EQ(dtype.value(), kF16);
  EXPECT_TRUE(match("op", "y", half).dtype(dtype).verify());
  EXPECT_THROW(match("op", "y", single).dtype(dtype).verify(), Error);
  EXPECT_EQ(dtype.value(), kF16);
}

TEST(MatchDType, SharedOrAnother) {
  DTypeVar dtype{"dtype"};
  const TensorView half = tensor({2}, kF16), single = tensor({2}), brain = tensor({2}, kBF16);
  EXPECT_TRUE(match("op", "w", single).dtype(dtype, kF32).verify());
  EXPECT_FALSE(dtype.bound()) << "the others bind nothing";
  EXPECT_TRUE(match("op", "x", half).dtype(dtype).verify());
  EXPECT_TRUE(match("op", "w", single).dtype(dtype, kF32).verify());
  EXPECT_TRUE(match("op", "w", half).dtype(dtype, kF32).verify());
  EXPECT_THROW(match("op", "w", brain).dtype(dtype, kF32).verify(), Error);
}

TEST(MatchDevice, FixedKindAndShared) {
  const TensorView host = tensor({2});
  const TensorView first = tensor({2}, kF32, cuda_device(0));
  const TensorView second = tensor({2}, kF32, cuda_device(1));
  EXPECT_TRUE(match("op", "x", host).on(kCpuDevice).verify());
  EXPECT_TRUE(match("op", "x", second).on(DeviceKind::kCuda).verify());
  EXPECT_EQ(kind_of([&] { match("op", "x", host).on(DeviceKind::kCuda).verify(); }),
            ErrorKind::kType);
  EXPECT_EQ(kind_of([&] { match("op", "x", host).on(cuda_device(0)).verify(); }), ErrorKind::kType);
  EXPECT_EQ(kind_of([&] { match("op", "x", second).on(cuda_device(0)).verify(); }),
            ErrorKind::kValue)
      << "the right kind, another index";

  DeviceVar device;
  EXPECT_TRUE(match("op", "x", first).on(device).verify());
  EXPECT_EQ(device.value(), cuda_device(0));
  EXPECT_THROW(match("op", "y", second).on(device).verify(), Error);
  DeviceVar gpu{"device", DeviceKind::kCuda};
  EXPECT_THROW(match("op", "x", host).on(gpu).verify(), Error);
  EXPECT_TRUE(match("op", "x", second).on(gpu).verify());
}

TEST(MatchOptional, MissingIsFalseOrAnError) {
  const TensorView none;
  Dim cols{"cols"};
  EXPECT_FALSE(match("op", "w", none).optional().shape(cols).dtype(kF32).contiguous().verify());
  EXPECT_FALSE(cols.bound());
  EXPECT_EQ(kind_of([&] { match("op", "w", none).shape(cols).verify(); }), ErrorKind::kType);
  const TensorView wrong = tensor({2}, kF16);
  EXPECT_THROW(match("op", "w", wrong).optional().dtype(kF32).verify(), Error)
      << "optional is not lenient";
}

TEST(MatchBinding, NothingIsCommittedOnFailure) {
  Leading lead;
  Dim cols{"cols"}, step{"step"}, half{"half"};
  DTypeVar dtype;
  DeviceVar device;
  alignas(16) static char local[256];
  const std::int64_t shape[] = {2, 3, 4}, strides[] = {12, 4, 1};
  const TensorView x(local + 4, kF32, shape, strides, kCpuDevice);
  // Everything binds before the alignment, checked last, fails.
  EXPECT_THROW(match("op", "x", x)
                   .shape(lead, half * 2)
                   .dtype(dtype)
                   .on(device)
                   .strides(kEllipsis, step, 1)
                   .aligned(1, 32)
                   .verify(),
               Error);
  EXPECT_FALSE(lead.bound());
  EXPECT_FALSE(half.bound());
  EXPECT_FALSE(dtype.bound());
  EXPECT_FALSE(device.bound());
  EXPECT_FALSE(step.bound());
  EXPECT_TRUE(match("op", "x", x).shape(lead, cols).dtype(dtype).on(device).verify());
  EXPECT_EQ(cols.value(), 4);
}

TEST(MatchBinding, EarlierBindingsSurviveALaterFailure) {
  Dim rows{"rows"}, cols{"cols"}, more{"more"};
  const TensorView x = tensor({2, 3}), y = tensor({7, 2, 4});
  EXPECT_TRUE(match("op", "x", x).shape(rows, cols).verify());
  EXPECT_THROW(match("op", "y", y).shape(more, rows, cols).verify(), Error);
  EXPECT_EQ(rows.value(), 2);
  EXPECT_EQ(cols.value(), 3);
  EXPECT_EQ(cols.from(), "x");
  EXPECT_FALSE(more.bound());
}

TEST(MatchBinding, ResetServesTheNextCall) {
  Dim rows{"rows"}, cols{"cols"};
  const TensorMatcher matrix = TensorMatcher("op").shape(rows, cols).dtype(kF32).contiguous();
  const TensorView x = tensor({2, 3}), y = tensor({4, 5});
  EXPECT_TRUE(matrix.verify("x", x));
  EXPECT_TRUE(matrix.verify("y", x));
  EXPECT_THROW(matrix.verify("y", y), Error);
  rows.reset();
  cols.reset();
  EXPECT_TRUE(matrix.verify("y", y));
  EXPECT_EQ(rows.value(), 4);
  EXPECT_EQ(rows.from(), "y");
}

TEST(MatchBinding, MatchersOwnTheirRules) {
  Dim cols{"cols"};
  const auto make = [&] { return TensorMatcher("op").shape(4, cols * 2).strides(kAny, 1); };
  const std::vector<TensorMatcher> kept(3, make());
  const TensorView x = tensor({4, 6}), y = tensor({5, 6});
  for (const TensorMatcher& matcher : kept) {
    EXPECT_TRUE(matcher.verify("x", x));
    EXPECT_THROW(matcher.verify("y", y), Error);
  }
  EXPECT_EQ(cols.value(), 3);
}

TEST(MatchBinding, MisuseDoesNotCompile) {
  static_assert(!std::is_copy_constructible_v<Dim> && !std::is_copy_constructible_v<DTypeVar>,
                "patterns hold their address");
  static_assert(!std::is_copy_constructible_v<ArgumentMatcher>, "it refers to its tensor");
  static_assert(!Matchable<TensorView>, "a temporary would be gone");
  static_assert(Matchable<TensorView&> && Matchable<const TensorView&>);
  static_assert(Matchable<Tensor&> && Matchable<const Tensor&>);
  static_assert(!std::is_constructible_v<DimSpec, Dim&&> &&
                !std::is_constructible_v<DimSpec, bool>);
  static_assert(!std::is_constructible_v<DimSpec, double>);
}

TEST(MatchBinding, Scalars) {
  Dim n{"n", Range{1, 64}, MultipleOf{4}};
  EXPECT_THROW(n.bind("op", "n", 65), Error);
  EXPECT_THROW(n.bind("op", "n", 6), Error);
  EXPECT_FALSE(n.bound());
  n.bind("op", "n", 8);
  EXPECT_EQ(n.value(), 8);
  EXPECT_EQ(n.from(), "n");
  EXPECT_NO_THROW(n.bind("op", "m", 8));
  EXPECT_THROW(n.bind("op", "m", 12), Error);
  const TensorView x = tensor({8});
  EXPECT_TRUE(match("op", "x", x).shape(n).verify());
}

TEST(MatchBinding, ContractFaultsAreInternalErrors) {
  Dim a{"a"}, b{"b"};
  Leading lead;
  const TensorView x = tensor({4, 6});
  const auto is_internal = [](const std::function<void()>& call) {
    return kind_of(call) == ErrorKind::kRuntime;
  };
  EXPECT_TRUE(is_internal([&] { (void)a.value(); }));
  EXPECT_TRUE(is_internal([&] { (void)lead.rows(); }));
  EXPECT_TRUE(is_internal([] { (void)DTypeVar().value(); }));
  EXPECT_TRUE(is_internal([] { (void)DeviceVar().value(); }));
  EXPECT_TRUE(is_internal([&] { match("op", "x", x).shape(4, a * b).verify(); }));
  EXPECT_TRUE(is_internal([&] { match("op", "x", x).shape(4, ceil_div(a, 2)).verify(); }));
  EXPECT_TRUE(is_internal([&] { match("op", "x", x).shape(4, lead).verify(); }));
  EXPECT_TRUE(is_internal([&] { match("op", "x", x).strides(lead, 1).verify(); }));
  EXPECT_TRUE(is_internal([&] { match("op", "x", x).aligned(24).verify(); }));
  EXPECT_TRUE(is_internal([&] { match("op", "x", x).aligned(0).verify(); }));
  const std::vector<DimSpec> many(kMaxRank + 2, DimSpec(kAny));
  EXPECT_TRUE(is_internal([&] { match("op", "x", x).shape(std::span(many)).verify(); }));
}

TEST(MatchBinding, PlaceOfAnErrorIsTheCallers) {
  const TensorView x = tensor({4});
  try {
    match("op", "x", x).shape(5).verify();
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string_view(error.where().file_name()).ends_with("match_binding_test.cc"));
  }
}

TEST(MatchBinding, SuccessAllocatesNothing) {
  const TensorView x = tensor({2, 8, 64}, kBF16), w = tensor({64}), none;
  const std::int64_t before = test::allocations();
  for (int i = 0; i < 3; ++i) {
    Leading lead{"..."};
    Dim cols{"cols", Range{1, 262144}, MultipleOf{8}}, step{"step"};
    DTypeVar dtype{"dtype", {kF32, kF16, kBF16}};
    DeviceVar device;
    match("op", "x", x)
        .shape(lead, cols)
        .strides(kEllipsis, step, 1)
        .dtype(dtype)
        .on(device)
        .last_contiguous()
        .collapsible_rows()
        .aligned(16)
        .verify();
    match("op", "w", w).optional().shape(cols).dtype(dtype, kF32).on(device).contiguous().verify();
    match("op", "bias", none).optional().shape(cols).verify();
    match("op", "y", x).shape(lead, cols).dtype(dtype).on(device).writable().verify();
    check_overlap("op", "y", x, "x", x, Overlap::kExactOrNone);
    check_overlap("op", "y", x.slice(2, 0, 32), "x", x.slice(2, 32, 64), Overlap::kNone);
  }
  EXPECT_EQ(test::allocations(), before);
  const auto* counted = new int(0);
  EXPECT_GT(test::allocations(), before) << "the counter counts";
  delete counted;
}

}  // namespace
}  // namespace einkorn
