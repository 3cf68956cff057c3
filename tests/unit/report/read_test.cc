#include "src/report/read.h"

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace einkorn::report {
namespace {

using testing::HasSubstr;

std::string reason(std::string_view text) {
  Documents documents;
  try {
    read_document("f", text, documents);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kValue);
    EXPECT_TRUE(documents.empty());
    EXPECT_TRUE(documents.sources.empty());
    return error.what();
  }
  return "read";
}

TEST(ReportRead, Bench) {
  Documents documents;
  read_document("f", R"({"op": "o", "device": "d", "driver": "1", "date": "2026", "commit": null,
    "versions": {"torch": "2"}, "results": [{"variant": "o/cpu/a_v1", "median_us": 2.5,
    "peers": [{"name": "p", "version": "", "skipped": "why"}, {"name": "q"}]},
    {"variant": "o/cpu/b_v1", "failure": "broke"}]})",
                documents);
  ASSERT_EQ(documents.benches.size(), 1U);
  const BenchDocument& bench = documents.benches[0];
  EXPECT_EQ(bench.origin.device, "d");
  EXPECT_EQ(bench.origin.commit, "");
  EXPECT_EQ(bench.origin.versions[0].second, "2");
  ASSERT_EQ(bench.results.size(), 2U);
  // Absent quartiles are the median: no spread is known.
  EXPECT_EQ(bench.results[0].time.q1_us, 2.5);
  EXPECT_EQ(bench.results[0].peers[0].skipped, "why");
  EXPECT_EQ(bench.results[0].peers[1].skipped, "no time in the document");
  EXPECT_EQ(bench.results[1].failure, "broke");
  EXPECT_EQ(documents.sources[0].kind, "bench");
  EXPECT_EQ(documents.sources[0].count, 2);
}

TEST(ReportRead, RunHasItsResultsUnderBench) {
  Documents documents;
  read_document("f", R"({"op": "o", "device": "d", "check": [], "bench": [
    {"variant": "o/cpu/a_v1", "median_us": 1}]})",
                documents);
  EXPECT_EQ(documents.benches[0].results.size(), 1U);
  EXPECT_EQ(documents.sources[0].kind, "run");
}

TEST(ReportRead, DoctorNamesDevicesByTheirTitles) {
  Documents documents;
  read_document("f", R"({"devices": [{"name": "cuda:0", "title": "H100"}], "measured": [
    {"device": "cuda:0", "what": "copy", "value": 3000, "unit": "GB/s"},
    {"device": "cuda:0", "what": "bf16 matmul", "value": 700, "unit": "TFLOP/s"},
    {"device": "cpu", "what": "f32 fma", "value": 500, "unit": "GFLOP/s"},
    {"device": "cpu", "what": "copy", "value": 0, "unit": "GB/s", "reason": "no memory"}]})",
                documents);
  ASSERT_EQ(documents.rates.size(), 3U);
  EXPECT_EQ(documents.rates[0].origin.device, "H100");
  EXPECT_EQ(documents.rates[0].gbps, 3000);
  EXPECT_EQ(documents.rates[1].tflops, 700);
  EXPECT_EQ(documents.rates[2].tflops, 0.5);
}

TEST(ReportRead, ProfileOfEvents) {
  Documents documents;
  read_document("f", R"({"mode": "event", "device": "d", "variant": "v", "problem": "p",
    "total_us": 3, "stages": [{"name": "a", "median_us": 1, "depth": 1}]})",
                documents);
  EXPECT_EQ(documents.profiles[0].stages[0].depth, 1);
  EXPECT_EQ(documents.profiles[0].total_us, 3);
}

TEST(ReportRead, SaysWhatIsWrong) {
  EXPECT_THAT(reason("{\n x"), HasSubstr("no JSON: parse error at line 2, column"));
  EXPECT_THAT(reason("[1]"), HasSubstr("expected one JSON object"));
  EXPECT_THAT(reason(R"({"what": "jit"})"), HasSubstr("(it is about: jit)"));
  EXPECT_THAT(reason(R"({"op": "o", "device": "d", "results": 3})"), HasSubstr("expected a list"));
  EXPECT_THAT(reason(R"({"op": "o", "device": "d", "results": [3]})"), HasSubstr("objects, got 3"));
  EXPECT_THAT(reason(R"({"op": "o", "results": []})"), HasSubstr("device: expected a name"));
  EXPECT_THAT(reason(R"({"op": "o", "device": 3, "results": []})"), HasSubstr("text, got 3"));
  EXPECT_THAT(reason(R"({"op": "o", "device": "d", "results": [{}]})"),
              HasSubstr("result 1: variant: expected a name"));
  EXPECT_THAT(reason(R"({"mode": "counters", "stages": []})"), HasSubstr("mode 'counters'"));
  EXPECT_THAT(reason(R"({"mode": "event", "device": "d", "stages": []})"),
              HasSubstr("at least one"));
  EXPECT_THAT(
      reason(R"({"mode": "event", "device": "d", "stages": [{"name": "a", "depth": 1e9}]})"),
      HasSubstr("depth: expected at most 64"));
  EXPECT_THAT(reason(R"({"devices": [], "measured": null})"), HasSubstr("doctor --measure"));
}

TEST(ReportRead, LongValuesAreCutInMessages) {
  const std::string text =
      R"({"op": "o", "device": ["))" + std::string(5000, 'x') + R"("], "results": []})";
  EXPECT_LT(reason(text).size(), 200U);
}

}  // namespace
}  // namespace einkorn::report
