// Sequences of prefill calls: bounds, their errors, and ragged lengths for tests.

#include "ops/linear_attention/sequences.h"

#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <einkorn/error.h>

#include "tests/unit/golden.h"
#include "tests/unit/ops/op_test.h"

namespace einkorn::linear_attention {
namespace {

using testing::ElementsAre;

std::vector<std::int64_t> lengths_of(const std::vector<std::int64_t>& bounds) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 1; i < bounds.size(); ++i) out.push_back(bounds[i] - bounds[i - 1]);
  return out;
}

TEST(Sequences, RowsOfTheBatch) {
  const Sequences rows(3, 100);
  EXPECT_EQ(rows.count(), 3);
  EXPECT_EQ(rows.begin(2), 200);
  EXPECT_EQ(rows.length(2), 100);
  EXPECT_EQ(rows.total(), 300);
  EXPECT_EQ(rows.longest(), 100);
  EXPECT_EQ(rows.blocks(64), 3);
  EXPECT_EQ(rows.blocks_before(2, 32), 6);
  EXPECT_EQ(Sequences(0, 100).longest(), 0);
}

TEST(Sequences, Packed) {
  const Sequences packed({0, 130, 130, 131, 259});
  EXPECT_EQ(packed.count(), 4);
  EXPECT_EQ(packed.begin(3), 131);
  EXPECT_EQ(packed.length(1), 0);
  EXPECT_EQ(packed.total(), 259);
  EXPECT_EQ(packed.longest(), 130);
  EXPECT_EQ(packed.blocks(64), 4);
  EXPECT_EQ(packed.blocks_before(3, 64), 2);
}

TEST(Sequences, ReadsEitherWidth) {
  const Tensor narrow = test::tensor_of(kI32, {3}, {0, 5, 7});
  const Tensor wide = test::tensor_of(kI64, {3}, {0, 6, 7});
  EXPECT_THAT(read_bounds("op", narrow, {}), ElementsAre(0, 5, 7));
  EXPECT_THAT(read_bounds("op", narrow, wide), ElementsAre(0, 6, 7));
}

TEST(Sequences, BoundsThatAreNone) {
  const auto kind = [](const std::vector<std::int64_t>& bounds) {
    return test::error_text([&] { check_bounds("op", bounds, 10); });
  };
  EXPECT_NO_THROW(check_bounds("op", std::vector<std::int64_t>{0, 0, 10, 10}, 10));
  EXPECT_THAT(kind({1, 10}), testing::StartsWith("ValueError: op: cu_seqlens[0]: expected 0"));
  EXPECT_THAT(kind({0, 9}), testing::StartsWith("ValueError: op: cu_seqlens[1]: expected 10"));
  EXPECT_THAT(kind({0, 7, 6, 10}), testing::StartsWith("ValueError: op: cu_seqlens[2]"));
}

TEST(Sequences, RaggedLengthsAddUp) {
  Rng rng(3);
  const auto next = [&] { return rng.next() >> 1; };
  for (const std::int64_t seqs : {1, 2, 3, 4, 5, 17}) {
    for (const std::int64_t tokens : {0, 1, 2, 63, 1000}) {
      const std::int64_t mean = (tokens + seqs - 1) / seqs;
      for (const std::int64_t longest : {mean, (mean + tokens) / 2, tokens}) {
        const auto lengths = lengths_of(ragged_bounds(seqs, tokens, longest, next));
        EXPECT_EQ(static_cast<std::int64_t>(lengths.size()), seqs);
        EXPECT_EQ(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}), tokens);
        EXPECT_EQ(*std::max_element(lengths.begin(), lengths.end()), longest)
            << seqs << ' ' << tokens;
        EXPECT_GE(*std::min_element(lengths.begin(), lengths.end()), 0);
      }
    }
  }
}

TEST(Sequences, RaggedLengthsHaveTheSmallestOnes) {
  Rng rng(4);
  const auto lengths = lengths_of(ragged_bounds(6, 1000, 400, [&] { return rng.next() >> 1; }));
  EXPECT_THAT(lengths, testing::Contains(0));
  EXPECT_THAT(lengths, testing::Contains(1));
}

}  // namespace
}  // namespace einkorn::linear_attention
