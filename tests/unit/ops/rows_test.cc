#include "ops/rows.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "src/core/float.h"
#include "src/cpu/elements.h"

namespace einkorn::cpu {
namespace {

TEST(RowFacts, AlignIsTheLargestPowerThatDividesAll) {
  alignas(64) char memory[256] = {};
  const auto align_of = [&](std::int64_t offset, std::int64_t stride, std::int64_t rows) {
    const std::int64_t shape[] = {rows, 4}, strides[] = {stride, 1};
    RowFacts facts(rows);
    facts.add_rows({memory + offset, kBF16, shape, strides, kCpuDevice}, 4);
    return facts.align();
  };
  EXPECT_EQ(align_of(0, 8, 2), 16);
  EXPECT_EQ(align_of(8, 8, 2), 8);
  EXPECT_EQ(align_of(0, 6, 2), 4);
  EXPECT_EQ(align_of(2, 8, 2), 2);
  EXPECT_EQ(align_of(0, 5, 1), 16);  // one row: its stride is never used
}

TEST(RowFacts, PartsBoundTheAlignment) {
  RowFacts facts(2);
  facts.add_parts(0);
  EXPECT_EQ(facts.align(), 16);
  facts.add_parts(24);
  EXPECT_EQ(facts.align(), 8);
}

TEST(LayoutRules, PartsBoundTheAlignmentWhateverTheRows) {
  LayoutRules rules{.op = "an_op", .rows = 1, .strided = true, .part_bytes = 12, .part = "head"};
  rules.add_vector(kBF16);
  EXPECT_EQ(natural_align(rules), 4);
  rules.part_bytes = 0;
  EXPECT_EQ(natural_align(rules), 16);
}

TEST(PlaceRows, GapsAreNanAndAlignmentExact) {
  for (const int align : {2, 4, 8, 16}) {
    std::vector<Tensor> storage;
    const TensorView rows = place_rows({3, true, align}, 5, kBF16, storage);
    RowFacts facts(3);
    facts.add_rows(rows, 5);
    EXPECT_EQ(facts.align(), align);
    EXPECT_TRUE(facts.strided());
    for (std::int64_t i = 5; i < rows.stride(0); ++i) {
      EXPECT_TRUE(std::isnan(load_as_double(rows, i)));
    }
  }
}

TEST(FillNormal, HasTheMomentsAndRepeats) {
  const Tensor tensor = Tensor::empty({300, 401}, kF32, kCpuDevice);
  Rng rng(1);
  fill_normal(tensor, 2, 0.5, rng);
  double sum = 0, squares = 0;
  const auto count = tensor.view().numel();
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = load_as_double(tensor, i);
    EXPECT_LE(std::abs(value - 2), 0.5 * 3.5);
    sum += value;
    squares += (value - 2) * (value - 2);
  }
  EXPECT_NEAR(sum / static_cast<double>(count), 2, 0.01);
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(count)), 0.5, 0.01);
  const Tensor again = Tensor::empty({300, 401}, kF32, kCpuDevice);
  Rng same(1);
  fill_normal(again, 2, 0.5, same);
  EXPECT_EQ(load_as_double(again, 777), load_as_double(tensor, 777));
}

TEST(FillNormal, RowsOfALargeTensorDiffer) {
  const Tensor tensor = Tensor::empty({5000, 1024}, kBF16, kCpuDevice);  // more than a block
  Rng rng(1);
  fill_normal(tensor, 0, 1, rng);
  int equal = 0;
  for (std::int64_t i = 0; i < 1024; ++i) {
    equal += load_as_double(tensor, i) == load_as_double(tensor, 4096 * 1024 + i) ? 1 : 0;
  }
  EXPECT_LT(equal, 100);
}

TEST(Element, RoundsLikeAStore) {
  char memory[16];
  for (const double value : {1.0 / 3, -7.77, 1e-6, 65519.0, 1e10}) {
    visit_float(kF16, [&](auto type) {
      using Half = decltype(type);
      Half::store(memory, 0, value);
      EXPECT_EQ(Half::load(memory, 0), Half::round(value));
    });
    visit_float(kBF16, [&](auto type) {
      using Brain = decltype(type);
      Brain::store(memory, 0, value);
      EXPECT_EQ(Brain::load(memory, 0), Brain::round(value));
    });
  }
}

}  // namespace
}  // namespace einkorn::cpu
