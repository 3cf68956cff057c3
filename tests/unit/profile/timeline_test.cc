#include "src/profile/timeline.h"

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "src/profile/documents.h"
#include "tests/unit/profile/staged_op.h"

namespace einkorn::profile {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Span span(std::string name, std::uint32_t stream, double start_us, double duration_us) {
  Span out;
  out.name = std::move(name);
  out.kernel = "k_" + out.name;
  out.stream = stream;
  out.start_us = start_us;
  out.duration_us = duration_us;
  return out;
}

ConcurrentNode node(std::vector<std::vector<std::size_t>> branches) {
  ConcurrentNode out;
  out.path = "both";
  out.branches = std::move(branches);
  return out;
}

TEST(Timeline, OverlapAndGaps) {
  //  a ####
  //  b   ######          branch 0: b, c;  branch 1: d
  //  c           ##
  //  d     ####
  //  e                ###
  const Timeline found = analyse({span("a", 7, 0, 4), span("b", 7, 2, 6), span("c", 7, 10, 2),
                                  span("d", 13, 4, 4), span("e", 7, 15, 3)},
                                 {node({{1, 2}, {3}})});
  EXPECT_DOUBLE_EQ(found.span_us, 18);
  EXPECT_DOUBLE_EQ(found.busy_us, 8 + 2 + 3);
  EXPECT_DOUBLE_EQ(found.overlap_us, 6);  // 2 to 8
  ASSERT_EQ(found.gaps.size(), 2U);
  EXPECT_EQ(found.gaps[0].before, "b") << "of two that end together the first";
  EXPECT_EQ(found.gaps[0].after, "c");
  EXPECT_DOUBLE_EQ(found.gaps[0].us, 2);
  EXPECT_DOUBLE_EQ(found.gaps[1].us, 3);
  ASSERT_EQ(found.concurrent.size(), 1U);
  EXPECT_DOUBLE_EQ(found.concurrent[0].sum_us, 12);
  EXPECT_DOUBLE_EQ(found.concurrent[0].span_us, 10);
  EXPECT_DOUBLE_EQ(found.concurrent[0].overlap_us, 4);
}

TEST(Timeline, TouchingIsNeitherOverlapNorGap) {
  const Timeline found = analyse({span("a", 7, 0, 4), span("b", 8, 4, 4)}, {node({{0}, {1}})});
  EXPECT_DOUBLE_EQ(found.overlap_us, 0);
  EXPECT_DOUBLE_EQ(found.busy_us, 8);
  EXPECT_THAT(found.gaps, IsEmpty());
  EXPECT_DOUBLE_EQ(found.concurrent[0].overlap_us, 0);
}

TEST(Timeline, KernelsOfOneBranchThatOverlapAreNoOverlapOfBranches) {
  const Timeline found =
      analyse({span("a", 7, 0, 4), span("b", 7, 3, 4), span("c", 8, 20, 1)}, {node({{0, 1}, {2}})});
  EXPECT_DOUBLE_EQ(found.overlap_us, 1);
  EXPECT_DOUBLE_EQ(found.concurrent[0].overlap_us, 0);
}

TEST(Timeline, ALeafThatLaunchesNothingIsLeftOut) {
  const Timeline found = analyse({span("a", 7, 0, 4), span("none", 0, 0, 0)}, {});
  EXPECT_DOUBLE_EQ(found.busy_us, 4);
  EXPECT_EQ(found.kernels.size(), 2U) << "indices stay those of the leaves";
}

TEST(Timeline, TraceHasARowForEachStream) {
  const Timeline found =
      analyse({span("norms/a", 7, 0, 4), span("norms/b", 13, 1, 4), span("none", 0, 0, 0)}, {});
  const auto trace = nlohmann::json::parse(chrome_trace(found, "pair/smxx/concurrent_v1"));
  std::vector<std::string> rows;
  std::vector<std::string> kernels;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "M") rows.push_back(event["args"]["name"]);
    if (event["ph"] == "X") kernels.push_back(event["name"]);
  }
  EXPECT_THAT(rows, ElementsAre("pair/smxx/concurrent_v1", "stream 7", "stream 13"));
  EXPECT_THAT(kernels, ElementsAre("norms/a", "norms/b"));
  EXPECT_EQ(trace["traceEvents"].back()["dur"], 4.0);
  EXPECT_EQ(trace["traceEvents"].back()["tid"], 13);
}

TEST(Timeline, DocumentListsKernelsInTheOrderOfTheirLaunches) {
  const Timeline found = analyse({span("a", 7, 2, 4), span("b", 13, 0, 4)}, {node({{0}, {1}})});
  const Json document = timeline_json(found);
  EXPECT_EQ(document["kernels"][0]["name"], "a");
  EXPECT_EQ(document["kernels"][1]["stream"], 13);
  EXPECT_EQ(document["overlap_us"], 2.0);
  EXPECT_EQ(document["concurrent"][0]["overlap_us"], 2.0);
}

TEST(Timeline, NeedsACudaDevice) {
  const OpEntry entry = toy::entry({&test::kStaged});
  const Subject cpu{entry, test::kStaged, toy::problem("rows=2 cols=2"), "", cpu_info()};
  EXPECT_THROW(static_cast<void>(profile_timeline(cpu, [](const std::string&) {})), Error);
}

}  // namespace
}  // namespace einkorn::profile
