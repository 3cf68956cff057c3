#include "src/versions/devlog.h"

#include <einkorn/error.h>
#include <gmock/gmock.h>

namespace einkorn::versions {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

ListedVariant rows(int version) { return {"toy", "cpu", "rows", version}; }

ResultFile file(std::string path, const std::string& device, const std::string& date,
                const std::string& rows) {
  return parse_results(R"({"op": "toy", "device": ")" + device +
                           R"(", "driver": "580", "versions": {"einkorn": "0.1", "nvrtc": "13.0"},
  "commit": "abc", "date": ")" +
                           date + R"(", "results": [)" + rows + "]}",
                       std::move(path));
}

std::string row(const std::string& variant, const std::string& problem, double us) {
  return R"({"variant": ")" + variant + R"(", "problem": ")" + problem +
         R"(", "tiling": "t=1", "samples": 9, "q1_us": 1, "q3_us": 2, "gbps": 3000.25,
  "tflops": 1.5, "roof": "memory", "percent_of_roof": 90.5, "copy_us": 10,
  "percent_of_copy": 99.5, "median_us": )" +
         std::to_string(us) + "}";
}

std::vector<ListedVariant> listed() { return {rows(1), rows(2)}; }

TEST(Devlog, ComparesWithinAFile) {
  const std::vector<ResultFile> files{
      file("bench/results/a.json", "H100", "2026-11-27T01:00:00Z",
           row("toy/cpu/rows_v2", "n=1", 50) + "," + row("toy/cpu/rows_v1", "n=2", 9)),
      file("bench/results/b.json", "H100", "2026-11-28T01:00:00Z",
           row("toy/cpu/rows_v1", "n=1", 20) + "," + row("toy/cpu/rows_v2", "n=1", 19) + "," +
               row("toy/cpu/rows_v2", "n=1", 18) + "," + row("toy/cpu/rows_v1", "n=1", 25)),
      file("bench/results/none.json", "A100", "2026-11-29T01:00:00Z",
           row("toy/cpu/rows_v1", "n=1", 1))};
  const Devlog log = gather_devlog(rows(2), listed(), "unrolled.", files);
  EXPECT_EQ(log.previous, "toy/cpu/rows_v1");
  EXPECT_EQ(log.device, "H100");
  EXPECT_THAT(log.files, ElementsAre("bench/results/b.json"));
  ASSERT_EQ(log.rows.size(), 1);
  EXPECT_EQ(log.rows[0].now.median_us, 18);
  EXPECT_EQ(log.rows[0].before.value_or(Measured()).median_us, 20);
  EXPECT_EQ(devlog_path(log), "docs/devlog/20261128-toy-rows_v2.md");
  const std::string text = devlog_text(log);
  EXPECT_TRUE(text.starts_with("# toy: cpu/rows_v2\n")) << text;
  EXPECT_THAT(text, HasSubstr("Since toy/cpu/rows_v1: unrolled."));
  EXPECT_THAT(text,
              HasSubstr("| `n=1` | `t=1` | 18.00 | 1.00-2.00 | 1.500 | 3000.2 | 90.5 % memory "
                        "| 99.5 % | 20.00 | -10.0 % | not known |"));
  EXPECT_THAT(text, HasSubstr("- `n=1`: memory: 90.5 % of the datasheet's bandwidth, 99.5 % of a "
                              "copy."));
  EXPECT_THAT(text, HasSubstr("## Issues\n\n<!-- TODO(you)"));
  EXPECT_THAT(text, HasSubstr("## Insights\n\n<!-- TODO(you)"));
}

TEST(Devlog, SaysWhenThereIsNothingToCompareWith) {
  const std::vector<ResultFile> files{
      file("a.json", "H100", "2026-11-28T01:00:00Z", row("toy/cpu/rows_v2", "n=1", 50))};
  const std::string text = devlog_text(gather_devlog(rows(2), listed(), "", files));
  EXPECT_THAT(text, HasSubstr("toy/cpu/rows_v1 was not measured in the same file"));
  EXPECT_THAT(text, HasSubstr("the head of its source does not say"));
  const std::vector<ResultFile> first{
      file("a.json", "H100", "2026-11-28T01:00:00Z", row("toy/cpu/rows_v1", "n=1", 50))};
  EXPECT_THAT(devlog_text(gather_devlog(rows(1), listed(), "", first)),
              AllOf(HasSubstr("The first version of this design."),
                    HasSubstr("| of copy | occupancy |"), Not(HasSubstr("time against"))));
}

TEST(Devlog, RefusesOtherDevicesAndNothingMeasured) {
  const std::vector<ResultFile> files{
      file("a.json", "H100", "2026-11-27T01:00:00Z", row("toy/cpu/rows_v2", "n=1", 50)),
      file("b.json", "A100", "2026-11-28T01:00:00Z", row("toy/cpu/rows_v2", "n=1", 70))};
  EXPECT_THAT([&] { gather_devlog(rows(2), listed(), "", files); },
              ThrowsMessage<Error>(HasSubstr("got A100 (b.json) and H100 (a.json)")));
  EXPECT_THAT([&] { gather_devlog(rows(1), listed(), "", files); },
              ThrowsMessage<Error>(HasSubstr("einkorn bench toy --versions --output")));
}

TEST(Measured, OtherDocumentsHaveNoResults) {
  EXPECT_TRUE(parse_results("[1, 2]", "a.json").results.empty());
  EXPECT_TRUE(parse_results(R"({"results": [{"op": "toy", "op_ns": 1}]})", "a").results.empty());
  EXPECT_TRUE(
      parse_results(R"({"results": [{"variant": "v", "median_us": 1, "failure": "x"}]})", "a")
          .results.empty());
  EXPECT_THAT([] { parse_results("{", "a.json"); },
              ThrowsMessage<Error>(HasSubstr("a.json: expected a result file")));
  EXPECT_THAT([] { parse_results(R"({"results": [{"variant": 1}]})", "a.json"); },
              ThrowsMessage<Error>(HasSubstr("a.json: expected a result file")));
}

TEST(Bottleneck, FollowsTheRoof) {
  Measured measured;
  measured.roof = "memory";
  measured.percent_of_roof = 40;
  measured.percent_of_copy = 45;
  EXPECT_THAT(bottleneck(measured), HasSubstr("below the memory roof: 40.0 %"));
  measured.percent_of_copy = 97;
  EXPECT_TRUE(bottleneck(measured).starts_with("memory: 40.0 %"));
  measured.roof = "cache";
  measured.percent_of_roof = 0;
  EXPECT_THAT(bottleneck(measured), HasSubstr("cache: one call fits"));
  EXPECT_EQ(bottleneck({}), "not known: the device's roof is not");
}

}  // namespace
}  // namespace einkorn::versions
