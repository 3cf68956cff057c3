#include "src/trials/trial.h"

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/trials/trials.h"

namespace einkorn::trials {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

std::string why_not(const std::string& line) {
  try {
    parse_line(line);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

std::string line_with(const char* key, const Json& value) {
  Json object = Json::parse(to_line(toy_trial("lanes=2", 3)));
  object[key] = value;
  return object.dump();
}

TEST(Trial, ALineGivesTheTrialBack) {
  Trial trial = toy_trial("lanes=32 \"q\"\n", 12.3456);
  trial.reason = "two\nlines";
  trial.resources = {.threads = 256, .registers = 40, .smem = 1 << 17};
  trial.sm_mhz = 1980;
  trial.throttle = "power";
  trial.predicted_us = 11.5;
  const std::string line = to_line(trial);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Trial back = parse_line(line);
  EXPECT_EQ(to_line(back), line);
  EXPECT_EQ(back.tiling, trial.tiling);
  EXPECT_EQ(back.resources, trial.resources);
  EXPECT_EQ(back.place, trial.place);
  EXPECT_DOUBLE_EQ(back.median_us, 12.3456);
}

TEST(Trial, EveryStatusHasAName) {
  for (const Status status :
       {Status::kInvalid, Status::kWrong, Status::kCrash, Status::kHang, Status::kError}) {
    EXPECT_EQ(parse_line(to_line(failed_trial("a=1", status))).status, status) << name(status);
  }
}

TEST(Trial, TextsThatAreNoUtf8AreRepaired) {
  Trial trial = toy_trial("a=1", 1);
  trial.reason = "\xff\xfe";
  EXPECT_NO_THROW(parse_line(to_line(trial)));
}

TEST(Trial, SaysWhyALineIsNone) {
  EXPECT_THAT(why_not("{\"schema\":1,"), HasSubstr("no JSON"));
  EXPECT_THAT(why_not("[1]"), HasSubstr("expected a JSON object, got array"));
  EXPECT_THAT(why_not("{}"), HasSubstr("schema: expected a value, got none"));
  EXPECT_THAT(why_not(line_with("schema", 2)), HasSubstr("schema: expected 1, got 2"));
  EXPECT_THAT(why_not(line_with("status", "fine")), HasSubstr("status: expected one of ok"));
  EXPECT_THAT(why_not(line_with("median_us", -1)), HasSubstr("median_us: expected 0 or more"));
  EXPECT_THAT(why_not(line_with("median_us", 99)), HasSubstr("between its quartiles"));
  EXPECT_THAT(why_not(line_with("samples", "1")), HasSubstr("samples: expected an integer"));
  EXPECT_THAT(why_not(line_with("samples", 1e300)), HasSubstr("samples"));
  EXPECT_THAT(why_not(line_with("variant", "other/cpu/a_v1")), HasSubstr("one of twice"));
  EXPECT_THAT(why_not(line_with("device", "")), HasSubstr("device: expected a text"));
  EXPECT_THAT(why_not(line_with("mode", "loop")), HasSubstr("graph or eager"));
  EXPECT_THAT(why_not(line_with("resources", 1)), HasSubstr("resources: expected an object"));
}

}  // namespace
}  // namespace einkorn::trials
