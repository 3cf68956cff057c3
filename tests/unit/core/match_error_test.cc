#include <einkorn/match.h>

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/golden.h"

namespace einkorn {
namespace {

using test::GoldenErrors;
using Sizes = std::vector<std::int64_t>;

alignas(256) char memory[1 << 16];

TensorView tensor(Sizes shape, DType dtype = kBF16, Device device = kCpuDevice) {
  return {memory, dtype, shape, device};
}

TensorView strided(Sizes shape, Sizes strides, DType dtype = kBF16, std::size_t byte = 0) {
  return {memory + byte, dtype, shape, strides, kCpuDevice};
}

/// A call that checks `x` as an argument of rms_norm by `rules`.
template <class Rules>
auto checking(const char* argument, const TensorView& x, Rules rules) {
  return [=] {
    TensorMatcher matcher("rms_norm");
    rules(matcher);
    matcher.verify(argument, x);
  };
}

TEST(MatchErrors, Shape) {
  GoldenErrors errors("errors/match_shape.txt");
  Dim cols{"cols", Range{1, 262144}}, eight{"groups", Range{8, 64}, MultipleOf{8}};
  Dim open{"rows", Range{1}}, low{"low", Range{kAnyInt.min, 4}}, n{"n"};
  const auto shape = [](auto&&... specs) {
    return [&](TensorMatcher& m) { (void)m.shape(specs...); };
  };
  errors.add("missing", checking("x", TensorView(), shape(kAny, cols)));
  errors.add("rank", checking("x", tensor({2, 3, 4}), shape(kAny, cols)));
  errors.add("rank with leading dimensions", checking("x", tensor({}), shape(kEllipsis, cols)));
  errors.add("rank of a scalar", checking("x", tensor({2}), shape()));
  errors.add("fixed size", checking("x", tensor({2, 3}), shape(2, 4)));
  errors.add("range", checking("x", tensor({2, 3}), shape(Range{3, 5}, kAny)));
  errors.add("named range", checking("x", tensor({2, 0}), shape(kAny, cols)));
  errors.add("named lower bound", checking("x", tensor({0, 2}), shape(open, kAny)));
  errors.add("named upper bound", checking("x", tensor({5}), shape(low)));
  errors.add("divisible", checking("x", tensor({12}), shape(eight)));
  errors.add("twice in one tensor", checking("x", tensor({4, 5}), shape(n, n)));

  cols.bind("rms_norm", "x", 4096);
  errors.add("bound by another argument", checking("weight", tensor({2048}), shape(cols)));
  errors.add("its own hint", checking("weight", tensor({2048}), [&](TensorMatcher& m) {
               (void)m.shape(cols).hint("the weight of a sharded layer has to be gathered first");
             }));
}

TEST(MatchErrors, Expressions) {
  GoldenErrors errors("errors/match_expression.txt");
  Dim cols{"cols"}, heads{"heads", Range{1, 8}}, wide{"wide"};
  const auto shape = [](auto&&... specs) {
    return [&](TensorMatcher& m) { (void)m.shape(specs...); };
  };
  cols.bind("silu_mul", "x", 4096);
  wide.bind("silu_mul", "z", std::int64_t{1} << 62);
  errors.add("product", checking("gate", tensor({8191}), shape(cols * 2)));
  errors.add("quotient", checking("gate", tensor({31}), shape(cols / 128)));
  errors.add("quotient that is not whole", checking("gate", tensor({31}), shape(cols / 3)));
  errors.add("rounded quotient", checking("gate", tensor({31}), shape(ceil_div(cols, 1000))));
  errors.add("unbound, not divisible", checking("gate", tensor({7}), shape(heads * 2)));
  errors.add("unbound, out of range", checking("gate", tensor({18}), shape(heads * 2)));
  errors.add("partly bound", checking("gate", tensor({100}), shape(heads * cols)));
  errors.add("square", checking("gate", tensor({100}), shape(cols * cols)));
  errors.add("beyond 63 bits", checking("gate", tensor({100}), shape(wide * 4)));
}

TEST(MatchErrors, Leading) {
  GoldenErrors errors("errors/match_leading.txt");
  Leading lead;
  const TensorView x = tensor({2, 3, 8});
  match("rms_norm", "x", x).shape(lead, kAny).verify();
  const auto rules = [&](TensorMatcher& m) { (void)m.shape(lead, kAny); };
  errors.add("rank", checking("y", tensor({6, 8}), rules));
  errors.add("size", checking("y", tensor({2, 4, 8}), rules));
}

TEST(MatchErrors, Types) {
  GoldenErrors errors("errors/match_type.txt");
  DTypeVar dtype{"dtype", {kF32, kF16, kBF16}};
  DeviceVar device, gpu{"device", DeviceKind::kCuda};
  errors.add("dtype of a set",
             checking("x", tensor({2}, kI32), [](TensorMatcher& m) { (void)m.dtype(kF16, kF32); }));
  errors.add("one dtype",
             checking("x", tensor({2}, kI32), [](TensorMatcher& m) { (void)m.dtype(kF32); }));
  errors.add("unbound shared dtype", checking("x", tensor({2}, kI32), [&](TensorMatcher& m) {
               (void)m.dtype(dtype, kF64);
             }));
  const TensorView x = tensor({2}, kBF16, cuda_device(0));
  match("rms_norm", "x", x).dtype(dtype).on(device).verify();
  errors.add("shared dtype",
             checking("y", tensor({2}, kF32), [&](TensorMatcher& m) { (void)m.dtype(dtype); }));
  errors.add(
      "shared dtype or another",
      checking("weight", tensor({2}, kF16), [&](TensorMatcher& m) { (void)m.dtype(dtype, kF32); }));
  errors.add("shared device, other kind",
             checking("y", tensor({2}), [&](TensorMatcher& m) { (void)m.on(device); }));
  errors.add("shared device, other index", checking("y", tensor({2}, kBF16, cuda_device(1)),
                                                    [&](TensorMatcher& m) { (void)m.on(device); }));
  errors.add("unbound shared device of a kind",
             checking("x", tensor({2}), [&](TensorMatcher& m) { (void)m.on(gpu); }));
  errors.add("one device", checking("x", tensor({2}, kBF16, cuda_device(1)),
                                    [](TensorMatcher& m) { (void)m.on(cuda_device(0)); }));
  errors.add("device kind",
             checking("x", tensor({2}), [](TensorMatcher& m) { (void)m.on(DeviceKind::kCuda); }));
}

TEST(MatchErrors, Layout) {
  GoldenErrors errors("errors/match_layout.txt");
  Dim step{"row_stride"}, cols{"cols"};
  const auto contiguous = [](TensorMatcher& m) { (void)m.contiguous(); };
  const auto aligned = [](TensorMatcher& m) { (void)m.aligned(16); };
  const auto strides = [](auto&&... specs) {
    return [&](TensorMatcher& m) { (void)m.strides(specs...); };
  };
  errors.add("null", checking("x", TensorView(nullptr, kF32, {3, 4}, kCpuDevice), aligned));
  errors.add("element alignment", checking("x", strided({4}, {1}, kF32, 2), aligned));
  errors.add("pointer alignment", checking("x", strided({4}, {1}, kF32, 24), aligned));
  errors.add("stride alignment", checking("x", strided({2, 3}, {12, 1}), aligned));
  errors.add("stride alignment below a byte", checking("x", strided({2, 3}, {5, 1}, kU4), aligned));
  errors.add("contiguous", checking("x", strided({2, 3}, {8, 1}), contiguous));
  errors.add("last contiguous", checking("x", strided({2, 3}, {8, 2}),
                                         [](TensorMatcher& m) { (void)m.last_contiguous(); }));
  errors.add("last two contiguous", checking("x", strided({2, 3, 4}, {99, 8, 1}),
                                             [](TensorMatcher& m) { (void)m.last_contiguous(2); }));
  errors.add("explicit stride", checking("x", strided({2, 3}, {8, 2}), strides(kAny, 1)));
  errors.add("explicit strides, rank", checking("x", strided({3}, {1}), strides(kAny, 1)));
  errors.add("explicit strides, least rank", checking("x", strided({}, {}), strides(kEllipsis, 1)));
  step.bind("rms_norm", "x", 8);
  cols.bind("rms_norm", "x", 3);
  errors.add("named stride", checking("y", strided({2, 3}, {9, 1}), strides(step, 1)));
  errors.add("stride by expression", checking("y", strided({2, 3}, {9, 1}), strides(cols * 2, 1)));
  errors.add("collapsible", checking("x", strided({2, 3, 4}, {25, 8, 1}),
                                     [](TensorMatcher& m) { (void)m.collapsible_rows(); }));
  errors.add("writable",
             checking("y", strided({2, 3}, {0, 1}), [](TensorMatcher& m) { (void)m.writable(); }));
}

TEST(MatchErrors, Scalars) {
  GoldenErrors errors("errors/match_scalar.txt");
  Dim groups{"groups", Range{1, 64}, MultipleOf{4}};
  errors.add("bounds", [&] { groups.bind("rms_norm", "groups", 6); });
  groups.bind("rms_norm", "groups", 8);
  errors.add("bound by another argument", [&] { groups.bind("rms_norm", "n_groups", 12); });
}

TEST(MatchErrors, Overlap) {
  GoldenErrors errors("errors/overlap.txt");
  const TensorView buffer = tensor({4, 8});
  const TensorView left = buffer.slice(1, 0, 4), middle = buffer.slice(1, 2, 6);
  const auto overlap = [](const TensorView& y, const TensorView& x, Overlap allowed) {
    return [=] { check_overlap("silu_mul", "y", y, "x", x, allowed); };
  };
  errors.add("partial, in place allowed", overlap(middle, left, Overlap::kExactOrNone));
  errors.add("partial, before", overlap(left, middle, Overlap::kNone));
  errors.add("exact, but not allowed", overlap(left, left, Overlap::kNone));
  errors.add("same start, other strides", overlap(tensor({4, 4}), left, Overlap::kExactOrNone));
}

}  // namespace
}  // namespace einkorn
