// The policy that cuts sequences into segments: pure, so that any device can be asked about here.

#include "ops/linear_attention/split.h"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <einkorn/registry.h>

namespace einkorn::linear_attention {
namespace {

using Lengths = std::vector<std::int64_t>;

Sequences sequences_of(const Lengths& lengths) {
  Lengths bounds{0};
  for (const std::int64_t one : lengths) bounds.push_back(bounds.back() + one);
  return Sequences(bounds);
}

/// The decision, which split_segment() has to come to as well.
Decision decide_on(const DeviceInfo& device, const Lengths& lengths, std::int64_t heads,
                   Split mode) {
  Decision decision = split_policy(lengths, heads, device, mode);
  EXPECT_EQ(split_segment(sequences_of(lengths), heads, device, mode), decision.segment)
      << decision.reason;
  return decision;
}

Decision decide(const Lengths& lengths, std::int64_t heads, Split mode = Split::kAuto) {
  return decide_on(find_device_info("h100"), lengths, heads, mode);
}

void expect_sound(const Decision& decision, const Lengths& lengths) {
  if (!decision.enabled) {
    EXPECT_EQ(decision.segment, 0);
    EXPECT_EQ(decision.segments, 0);
    return;
  }
  EXPECT_GT(decision.segment, 0);
  EXPECT_EQ(decision.segment % kChunk, 0);
  const Sequences sequences = sequences_of(lengths);
  EXPECT_LT(decision.segment, sequences.longest());
  const auto segments = segments_of(sequences, decision.segment);
  EXPECT_EQ(static_cast<std::int64_t>(segments.size()), decision.segments);
  std::int64_t tokens = 0;
  for (const Segment& one : segments) tokens += one.tokens;
  EXPECT_EQ(tokens, sequences.total());
}

TEST(SplitPolicy, OffIsOff) {
  const Decision decision = decide({1 << 20}, 1, Split::kOff);
  EXPECT_FALSE(decision.enabled);
  EXPECT_EQ(decision.reason, "off");
}

TEST(SplitPolicy, SplitsWhatLeavesTheDeviceIdle) {
  // 132 multiprocessors and 1024 chunks. The first pass over 16 segments of 4 heads has 240 blocks
  // of 64 chunks, the second 128.
  const Decision decision = decide({65536}, 4);
  EXPECT_TRUE(decision.enabled) << decision.reason;
  EXPECT_EQ(decision.segment, 64 * kChunk);
  EXPECT_EQ(decision.segments, 16);
  EXPECT_EQ(decision.reason, "1037 steps whole, 327 in segments of 64 chunks");
}

TEST(SplitPolicy, LeavesAloneWhatFillsTheDevice) {
  EXPECT_FALSE(decide({8192}, 64).enabled);
  EXPECT_FALSE(decide(Lengths(32, 8192), 4).enabled);
  // Two halves side by side, each stepped through twice, win nothing.
  EXPECT_FALSE(decide({65536}, 32).enabled);
}

TEST(SplitPolicy, KnowsWhatAWholeRunHides) {
  const DeviceInfo h200 = find_device_info("h200");
  const auto decide_with = [&](std::int64_t value_heads, double hidden) {
    return split_policy(Lengths{1 << 20}, value_heads, h200, Split::kAuto, "test", hidden);
  };
  // 32 of 132 multiprocessors have a block: cut, these work more, but wait for all chunks first.
  EXPECT_TRUE(decide_with(16, 0).enabled);
  const Decision whole = decide_with(16, kHiddenPreparation);
  EXPECT_FALSE(whole.enabled) << whole.reason;
  // 8 have one: worth the wait.
  EXPECT_TRUE(decide_with(4, kHiddenPreparation).enabled);
}

TEST(SplitPolicy, LeavesAloneWhatIsShort) {
  const Decision decision = decide({900, 64, 0}, 1);
  EXPECT_FALSE(decision.enabled);
  EXPECT_EQ(decision.reason, "the longest sequence has 15 chunks, fewer than 16");
}

TEST(SplitPolicy, OneLongSequenceAmongShortOnes) {
  Lengths lengths(17, 128);
  lengths[5] = 14336;
  const Decision decision = decide(lengths, 8);
  EXPECT_TRUE(decision.enabled) << decision.reason;
  expect_sound(decision, lengths);
  EXPECT_GT(decision.segments, 17);
}

TEST(SplitPolicy, ForceCutsWhatAutoWouldNot) {
  const Decision decision = decide({8192}, 64, Split::kForce);
  EXPECT_TRUE(decision.enabled);
  expect_sound(decision, {8192});
  const Decision two = decide({65}, 64, Split::kForce);
  EXPECT_EQ(two.segment, kChunk);
  EXPECT_EQ(two.segments, 2);
}

TEST(SplitPolicy, ForceSaysWhenNothingCanBeCut) {
  EXPECT_THROW(decide({64, 1, 0}, 4, Split::kForce), NotSplittable);
  try {
    decide({64, 1, 0}, 4, Split::kForce);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kValue);
    EXPECT_THAT(error.what(), testing::HasSubstr("more than 64 tokens"));
  }
}

TEST(SplitPolicy, ACpuNeverSplits) {
  const Decision decision = decide_on(cpu_info(), {1 << 20}, 1, Split::kAuto);
  EXPECT_FALSE(decision.enabled);
  EXPECT_THAT(decision.reason, testing::HasSubstr("CPU"));
  EXPECT_THROW(split_policy(Lengths{1 << 20}, 1, cpu_info(), Split::kForce), NotSplittable);
}

TEST(SplitSegment, RefusesInTheSameWords) {
  const DeviceInfo h100 = find_device_info("h100");
  for (const DeviceInfo& device : {h100, cpu_info()}) {
    const auto message = [&](auto&& call) -> std::string {
      try {
        call(Sequences({0, 64, 65}), 4, device, Split::kForce, "an_op");
      } catch (const NotSplittable& error) {
        return error.what();
      }
      return "nothing thrown";
    };
    const std::string of_policy = message([](const auto&... args) { split_policy(args...); });
    const std::string of_segment = message([](const auto&... args) { split_segment(args...); });
    EXPECT_THAT(of_policy, testing::StartsWith("an_op: split: expected "));
    EXPECT_EQ(of_segment, of_policy);
  }
}

TEST(SplitSegment, OfRowsIsThatOfTheirLengths) {
  const DeviceInfo h100 = find_device_info("h100");
  for (const std::int64_t rows : {1, 2, 5, 40}) {
    const Decision decision = decide(Lengths(static_cast<std::size_t>(rows), 40007), 2);
    EXPECT_EQ(split_segment(Sequences(rows, 40007), 2, h100, Split::kAuto), decision.segment);
  }
}

TEST(SplitPolicy, EveryDecisionIsSound) {
  for (const char* device : {"a100", "h100", "b200"}) {
    for (const std::int64_t heads : {1, 2, 3, 8, 16, 64, 200}) {
      for (const Lengths& lengths :
           {Lengths{}, Lengths{0}, Lengths{1}, Lengths{64}, Lengths{65}, Lengths{4097},
            Lengths{28679, 4096}, Lengths{40007}, Lengths{32768, 100}, Lengths(100, 3000),
            Lengths{1024, 1, 63, 65, 129}}) {
        for (const Split mode : {Split::kAuto, Split::kForce}) {
          const std::int64_t longest =
              lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
          if (mode == Split::kForce && longest <= kChunk) continue;
          expect_sound(decide_on(find_device_info(device), lengths, heads, mode), lengths);
        }
      }
    }
  }
}

TEST(Segments, CoverSequencesInOrder) {
  EXPECT_THAT(segments_of(Sequences({0, 130, 130, 131}), 64),
              testing::ElementsAre(Segment{0, 0, 64}, Segment{0, 64, 64}, Segment{0, 128, 2},
                                   Segment{2, 0, 1}));
}

}  // namespace
}  // namespace einkorn::linear_attention
