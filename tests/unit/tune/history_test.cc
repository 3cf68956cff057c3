#include "src/tune/history.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/trials/trials.h"

namespace einkorn::tune {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Outcome outcome() {
  Outcome out;
  out.known.push_back({trials::toy_trial("a=1 b=2", 3), true});
  out.known.push_back({trials::failed_trial("a=2", trials::Status::kWrong), false});
  out.known.back().trial.reason = "y[0]: got \"1\",\nwant 2";
  return out;
}

TEST(History, CsvQuotesWhatNeedsIt) {
  const std::vector<Outcome> all{outcome(), outcome()};
  const std::string csv = history_csv(all);
  EXPECT_THAT(csv, StartsWith("order,op,variant,problem,tiling,status,reason,median_us,"));
  EXPECT_THAT(csv, HasSubstr("1,twice,twice/cpu/toy_v1,rows=8 cols=4,a=1 b=2,ok,,3.0,"));
  EXPECT_THAT(csv, HasSubstr("a=2,wrong,\"y[0]: got \"\"1\"\",\nwant 2\",0.0"));
  EXPECT_EQ(std::ranges::count(csv, '\r'), 5);
}

TEST(History, JsonHasTheSameRows) {
  const std::vector<Outcome> all{outcome()};
  const auto rows = nlohmann::ordered_json::parse(history_json(all));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].size(), history_columns().size());
  EXPECT_EQ(rows[0]["reused"], true);
  EXPECT_EQ(rows[1]["status"], "wrong");
  EXPECT_EQ(rows[1]["order"], 2);
}

}  // namespace
}  // namespace einkorn::tune
