#include "cli/formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/status.h"

namespace einkorn::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::uint64_t value(const std::string& formula) {
  const FormulaNames names{{{"n", 1000}}, {{"eps", "0.5"}, {"x", "a tensor"}}};
  return whole_number("--grid", formula, names);
}

std::string refusal(const std::string& formula) {
  try {
    value(formula);
  } catch (const Exit& exit) {
    EXPECT_EQ(exit.status(), kBadUsage);
    return exit.what();
  }
  return "no error";
}

TEST(WholeNumber, Formulas) {
  EXPECT_EQ(value("(n+255)/256"), 4u);
  EXPECT_EQ(value("cdiv(n, 256) * 2 - n % 7"), 2u);
}

TEST(WholeNumber, MistakesNameWhatIsAllowed) {
  EXPECT_EQ(refusal("eps * 4"), "--grid: expected whole numbers, got eps = 0.5, in \"eps * 4\"");
  EXPECT_THAT(refusal("x"), HasSubstr("got x = a tensor"));
  EXPECT_EQ(refusal("ceil(n)"),
            "--grid: unknown name \"ceil\"; known are + - * / %, cdiv(a, b) and n, in \"ceil(n)\"");
  for (const char* formula : {"1/0", "n % 0", "cdiv(n, 0)"}) {
    EXPECT_THAT(refusal(formula), HasSubstr("got a division by 0")) << formula;
  }
  EXPECT_THAT(refusal("1 - n"), HasSubstr("expected a whole number from 0 to 2^53, got -999"));
  EXPECT_THAT(refusal(" "), HasSubstr("got an empty text"));
}

TEST(SplitFormulas, CommasOutsideOfParentheses) {
  EXPECT_THAT(split_formulas("cdiv(n, 4), 2"), ElementsAre("cdiv(n, 4)", " 2"));
  EXPECT_THAT(split_formulas(""), ElementsAre(""));
  EXPECT_THAT(split_formulas("1,"), ElementsAre("1", ""));
}

}  // namespace
}  // namespace einkorn::cli
