#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/report/read.h"
#include "src/trials/trial.h"

namespace einkorn::report {
namespace {

std::string line(const std::string& device, double median_us) {
  trials::Trial trial;
  trial.op = "o";
  trial.variant = "o/sm90/a_v1";
  trial.problem = "rows=1";
  trial.tiling = "n=1";
  trial.place = {device, 90, 132, "580", "nvrtc 13.0"};
  trial.source = "0123456789abcdef";
  trial.median_us = trial.q1_us = trial.q3_us = median_us;
  trial.samples = 3;
  trial.date = "2026-11-28T00:00:00Z";
  return to_line(trial) + '\n';
}

TEST(ReportReadTrials, KeepsTheOrderOfTheLines) {
  Documents documents;
  read_trials("f", line("d", 3) + line("d", 2), documents);
  ASSERT_EQ(documents.trials.size(), 2U);
  EXPECT_EQ(documents.trials[0].time.median_us, 3);
  EXPECT_EQ(documents.trials[0].status, "ok");
  EXPECT_EQ(documents.trials[0].conditions, "graph, cold L2, nvrtc 13.0, sources 01234567");
  EXPECT_EQ(documents.sources[0].origin.device, "d");
  EXPECT_EQ(documents.sources[0].count, 2);
}

TEST(ReportReadTrials, CountsBadLinesByReason) {
  Documents documents;
  read_trials("f", "{\n" + line("d", 3) + "[]\n}\n" + line("e", 3), documents);
  EXPECT_EQ(documents.trials.size(), 2U);
  EXPECT_EQ(documents.sources[0].origin.device, "several");
  ASSERT_EQ(documents.skipped.size(), 2U);
  int lines = 0;
  for (const Skipped& skipped : documents.skipped) lines += skipped.count;
  EXPECT_EQ(lines, 3);
}

TEST(ReportReadTrials, AFileWithoutATrialIsAnError) {
  Documents documents;
  EXPECT_THROW(read_trials("f", "", documents), Error);
  EXPECT_THROW(read_trials("f", "x\n", documents), Error);
  EXPECT_TRUE(documents.skipped.empty());
}

}  // namespace
}  // namespace einkorn::report
