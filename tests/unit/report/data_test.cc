#include "src/report/data.h"

#include <gtest/gtest.h>

namespace einkorn::report {
namespace {

Result row(const std::string& variant, double median_us, const std::string& problem = "rows=1") {
  Result out;
  out.variant = variant;
  out.problem = problem;
  out.time = {median_us, median_us, median_us};
  out.gbps = 1000;
  out.tflops = 0.5;
  return out;
}

BenchDocument bench(const std::string& date, std::vector<Result> rows,
                    const std::string& device = "d") {
  BenchDocument out{{}, "o", std::move(rows)};
  out.origin.device = device;
  out.origin.date = date;
  return out;
}

TEST(ReportData, ComputedNumbersHaveSixDigits) {
  EXPECT_EQ(computed(1.0 / 3).dump(), "0.333333");
  EXPECT_EQ(computed(2.0e7 / 3).dump(), "6666670.0");
  EXPECT_TRUE(computed(0).is_null());
  EXPECT_TRUE(known(0).is_null());
}

TEST(ReportData, DevicesStandApart) {
  Documents documents;
  documents.benches = {bench("1", {row("o/cpu/a_v1", 2)}, "cpu"),
                       bench("2", {row("o/sm90/a_v1", 1)}, "gpu")};
  documents.benches[1].origin.driver = "580";
  const Json data = report_data(documents, "now");
  ASSERT_EQ(data["devices"].size(), 2U);
  EXPECT_EQ(data["devices"][0]["device"], "gpu");  // the one with a driver first
  EXPECT_EQ(data["devices"][0]["results"].size(), 1U);
  EXPECT_EQ(data["devices"][1]["results"][0]["variant"], "o/cpu/a_v1");
  EXPECT_EQ(data["date"], "now");
}

TEST(ReportResults, NewestDocumentIsTheLatest) {
  const std::vector benches{bench("2026-01", {row("o/cpu/a_v1", 3)}),
                            bench("2026-02", {row("o/cpu/a_v1", 2), row("o/cpu/a_v1", 4)})};
  const Json rows = results_data(benches, {});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["date"], "2026-02");
  EXPECT_TRUE(rows[0]["latest"]);
  EXPECT_TRUE(rows[1]["latest"]);  // another tiling of the same document
  EXPECT_FALSE(rows[2]["latest"]);
}

TEST(ReportResults, IntensityAndShareOfTheRoof) {
  Peaks peaks;
  peaks.memory.push_back({"memory", 2000, false, ""});
  Result failed = row("o/cpu/b_v1", 0);
  failed.failure = "broke";
  const Json rows = results_data(std::vector{bench("1", {row("o/cpu/a_v1", 1), failed})}, peaks);
  EXPECT_EQ(rows[0]["intensity"], 0.5);
  EXPECT_EQ(rows[0]["percent_attainable"], 50);
  EXPECT_TRUE(rows[1]["intensity"].is_null());
  EXPECT_EQ(rows[1]["failure"], "broke");
}

TEST(ReportComparisons, CopyAndPeersOnceSortedByTime) {
  Result a = row("o/cpu/a_v1", 3);
  Result b = row("o/cpu/b_v1", 2);
  a.copy_us = b.copy_us = 2.5;
  a.peers = b.peers = {{"torch", "2", "", {4, 4, 4}}, {"liger", "", "missing", {}}};
  const Json all = comparisons_data(std::vector{bench("1", {a, b, row("o/cpu/c_v1", 1, "p")})});
  ASSERT_EQ(all.size(), 1U);  // "p" has no company
  const Json& bars = all[0]["bars"];
  ASSERT_EQ(bars.size(), 4U);
  EXPECT_EQ(bars[0]["name"], "o/cpu/b_v1");
  EXPECT_EQ(bars[1]["kind"], "copy");
  EXPECT_EQ(bars[3]["name"], "torch");
  EXPECT_EQ(bars[3]["times_ours"], 2);
  ASSERT_EQ(all[0]["skipped"].size(), 1U);
  EXPECT_EQ(all[0]["skipped"][0]["reason"], "missing");
}

TEST(ReportComparisons, NeverAcrossDocuments) {
  Result a = row("o/cpu/a_v1", 3);
  Result b = row("o/cpu/b_v1", 2);
  a.copy_us = b.copy_us = 2.5;
  const Json all = comparisons_data(std::vector{bench("2", {b}), bench("1", {a})});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["bars"].size(), 2U);
  EXPECT_EQ(all[0]["date"], "2");
}

TEST(ReportLadders, VersionsOfOneDesignProblemAndDocument) {
  const std::vector benches{
      bench("1", {row("o/cpu/a_v10", 1), row("o/cpu/a_v9", 2), row("o/cpu/a_v9", 1.5),
                  row("o/cpu/b_v1", 1), row("o/cpu/a_v1", 5, "other"), row("o/cpu/odd_vx", 1)}),
      bench("2", {row("o/cpu/a_v11", 0.5)})};
  const Json ladders = ladders_data(benches);
  ASSERT_EQ(ladders.size(), 1U);
  EXPECT_EQ(ladders[0]["design"], "o/cpu/a");
  const Json& steps = ladders[0]["steps"];
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0]["version"], 9);
  EXPECT_EQ(steps[0]["median_us"], 1.5);  // of two tilings the faster
  EXPECT_EQ(steps[1]["version"], 10);
  EXPECT_EQ(steps[1]["speedup"], 1.5);
}

TEST(ReportTuning, GroupsByConditionsAndFindsTheBest) {
  const auto trial = [](double median_us, const char* status, const char* conditions) {
    Trial out;
    out.variant = "o/cpu/a_v1";
    out.problem = "p";
    out.conditions = conditions;
    out.status = status;
    out.time.median_us = median_us;
    return out;
  };
  const Json groups = tuning_data(std::vector{trial(3, "ok", "cold"), trial(1, "wrong", "cold"),
                                              trial(2, "ok", "cold"), trial(1, "ok", "warm")});
  ASSERT_EQ(groups.size(), 2U);
  const Json& trials = groups[0]["trials"];
  ASSERT_EQ(trials.size(), 3U);
  EXPECT_FALSE(trials[0]["best"]);
  EXPECT_FALSE(trials[1]["measured"]);  // a wrong answer has no time that counts
  EXPECT_TRUE(trials[2]["best"]);
  EXPECT_EQ(trials[2]["order"], 3);
}

TEST(ReportStages, NewestProfileOfEachVariantAndProblem) {
  const auto profile = [](const char* date, double total_us) {
    ProfileDocument out;
    out.variant = "v";
    out.problem = "p";
    out.origin.date = date;
    out.total_us = total_us;
    out.stages = {{"a", {1, 1, 1}, 0, 0}};
    return out;
  };
  const Json stages = stages_data(std::vector{profile("2", 7), profile("1", 9)});
  ASSERT_EQ(stages.size(), 1U);
  EXPECT_EQ(stages[0]["total_us"], 7);
  EXPECT_TRUE(stages[0]["stages"][0]["predicted_us"].is_null());
}

}  // namespace
}  // namespace einkorn::report
