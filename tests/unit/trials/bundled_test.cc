#include "src/trials/bundled.h"

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/trials/embedded.h"
#include "tests/unit/trials/trials.h"

namespace einkorn::trials {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::string why_not(const std::string& text) {
  try {
    parse_bundled(text, "tunings/x.json");
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Bundled, WinnersComeBackAsTrials) {
  Trial old = toy_trial("a=9", 1);
  old.source = "s0";
  const std::string text =
      print_bundled({toy_trial("a=1", 5), toy_trial("a=2", 3), old,
                     toy_trial("a=1", 4, "rows=16 cols=4"), failed_trial("a=3", Status::kWrong)});
  const std::vector<Trial> trials = parse_bundled(text, "x.json");
  ASSERT_THAT(trials, SizeIs(3));
  EXPECT_EQ(trials[0].problem, "rows=16 cols=4");
  EXPECT_EQ(trials[1].source, "s0");
  EXPECT_EQ(trials[2].tiling, "a=2");
  EXPECT_EQ(trials[2].median_us, 3);
  EXPECT_EQ(trials[2].place.device, "Toy GPU 80GB");
  EXPECT_EQ(trials[2].place.sm_count, 132);
  EXPECT_EQ(trials[2].mode, "graph");
}

TEST(Bundled, TheOrderOfTrialsDoesNotShow) {
  std::vector<Trial> trials{toy_trial("a=1", 5), toy_trial("a=2", 3),
                            toy_trial("a=1", 4, "rows=16 cols=4")};
  const std::string text = print_bundled(trials);
  std::swap(trials[0], trials[2]);
  EXPECT_EQ(print_bundled(trials), text);
}

TEST(Bundled, RefusesWhatBelongsElsewhere) {
  Trial other = toy_trial("a=1", 5);
  other.place.device = "Other";
  EXPECT_THROW(print_bundled({toy_trial("a=1", 5), other}), Error);
  EXPECT_THROW(print_bundled({failed_trial("a=1", Status::kHang)}), Error);
  EXPECT_THROW(print_bundled({}), Error);
}

TEST(Bundled, SaysWhichEntryIsWrong) {
  EXPECT_THAT(why_not("{"), HasSubstr("tunings/x.json"));
  EXPECT_THAT(why_not(R"({"schema": 2, "entries": []})"), HasSubstr("schema: expected 1, got 2"));
  const std::string text = print_bundled({toy_trial("a=1", 5)});
  std::string wrong = text;
  wrong.replace(wrong.find("twice/cpu"), 5, "other");
  EXPECT_THAT(why_not(wrong), HasSubstr("x.json: entry 1: variant: expected one of twice"));
  wrong = text;
  wrong.replace(wrong.find("\"tiling\""), 8, "\"titing\"");
  EXPECT_THAT(why_not(wrong), HasSubstr("x.json: entry 1: "));
}

TEST(Bundled, EveryEmbeddedFileIsUnderstood) {
  for (const EmbeddedFile& file : embedded_tunings()) {
    EXPECT_NO_THROW(parse_bundled(file.text, std::string(file.path))) << file.path;
  }
  EXPECT_THAT(bundled("no_such_op").trials, SizeIs(0));
}

}  // namespace
}  // namespace einkorn::trials
