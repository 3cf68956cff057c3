#include "src/profile/event.h"

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/profile/documents.h"
#include "tests/unit/profile/staged_op.h"

namespace einkorn::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

void throws(const toy::Twice::Args&) { throw_error(ErrorKind::kRuntime, "twice: no"); }

Subject subject(const OpEntry& entry, std::string_view keys) {
  return {entry, *entry.variants[0], toy::problem(keys), "", cpu_info()};
}

TEST(ProfileEvent, TimesEachStageAndTheBranchesTogether) {
  const OpEntry entry = toy::entry({&test::kStaged});
  const Subject one = subject(entry, "rows=500 cols=1000");
  const EventProfile profile = profile_event(one, {.seconds = 0.02});
  EXPECT_TRUE(profile.complete);
  EXPECT_GE(profile.total.samples, 11);
  EXPECT_GE(profile.input_sets, 2);
  ASSERT_EQ(profile.stages.size(), 4U);
  double sum = 0;
  std::vector<std::string> names;
  for (const StageTime& stage : profile.stages) {
    names.push_back(stage.name);
    EXPECT_GT(stage.timing.median_us, 0);
    EXPECT_LE(stage.timing.q1_us, stage.timing.q3_us);
    EXPECT_NEAR(stage.share, stage.timing.median_us / profile.total.median_us, 1e-9);
    sum += stage.timing.median_us;
  }
  EXPECT_THAT(names, ElementsAre("in", "inner/halves/low", "inner/halves/high", "out"));
  EXPECT_THAT(profile.stages[0].branches, IsEmpty());
  EXPECT_THAT(profile.stages[2].branches, ElementsAre(1));
  // On a CPU stages run in order, so together they are the whole; noise of a shared machine apart.
  EXPECT_GT(sum, 0.3 * profile.total.median_us);
  EXPECT_LT(sum, 3 * profile.total.median_us);

  // 4 MB through one core: between a tenth and a thousand GB/s. No cost is told for the others.
  EXPECT_GT(profile.stages[0].gbps, 0.1);
  EXPECT_LT(profile.stages[0].gbps, 1000);
  EXPECT_EQ(profile.stages[3].gbps, 0);

  ASSERT_EQ(profile.concurrent.size(), 1U);
  const ConcurrentTime& both = profile.concurrent[0];
  EXPECT_EQ(both.name, "inner/halves");
  EXPECT_NEAR(both.sum_us, profile.stages[1].timing.median_us + profile.stages[2].timing.median_us,
              1e-9);
  EXPECT_LT(both.longest_us, both.sum_us);
  EXPECT_NEAR(both.gain, both.sum_us / both.joint.median_us, 1e-9);
}

TEST(ProfileEvent, OneStageIsTheWhole) {
  const OpEntry entry = toy::entry({&toy::kVariant<toy::Twice::reference>});
  const EventProfile profile =
      profile_event(subject(entry, "rows=100 cols=100"), {.seconds = 0.01});
  ASSERT_EQ(profile.stages.size(), 1U);
  EXPECT_EQ(profile.stages[0].timing.median_us, profile.total.median_us);
  EXPECT_EQ(profile.stages[0].share, 1);
  // By the op's own work: 8 bytes and a flop an element.
  EXPECT_NEAR(profile.stages[0].gbps, 8e4 / profile.total.median_us * 1e-3, 1e-9);
  EXPECT_NEAR(profile.stages[0].tflops, 1e4 / profile.total.median_us * 1e-6, 1e-12);
}

TEST(ProfileEvent, StopKeepsWhatWasMeasured) {
  const OpEntry entry = toy::entry({&test::kStaged});
  int asked = 0;
  int rounds_told = 0;
  EventOptions options{.seconds = 60};
  options.stop = [&] { return ++asked == 3; };
  options.progress = [&](const std::string&, int, int rounds) { rounds_told = rounds; };
  const EventProfile profile = profile_event(subject(entry, "rows=10 cols=10"), options);
  EXPECT_FALSE(profile.complete);
  EXPECT_EQ(profile.total.samples, 3);
  EXPECT_GT(rounds_told, 3);
}

TEST(ProfileEvent, AFailureOfAStagePasses) {
  const OpEntry entry = toy::entry({&toy::kVariant<throws>});
  EXPECT_THROW(profile_event(subject(entry, "rows=10 cols=10"), {}), Error);
}

TEST(ProfileDocuments, EventHasItsFieldsInOrder) {
  const OpEntry entry = toy::entry({&test::kStaged});
  const Subject one = subject(entry, "rows=10 cols=10");
  Json document = params_json("event", one);
  document.update(event_json(profile_event(one, {.seconds = 0.001})));
  std::vector<std::string> keys;
  for (const auto& [key, value] : document.items()) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("mode", "op", "variant", "problem", "tiling", "device", "driver",
                                "versions", "commit", "date", "seed", "total_us", "q1_us", "q3_us",
                                "samples", "input_sets", "predicted_us", "stages", "concurrent"));
  EXPECT_EQ(document["variant"], "twice/cpu/staged_v1");
  EXPECT_THAT(document["problem"].get<std::string>(), HasSubstr("rows=10"));
  EXPECT_TRUE(document["stages"][3]["gbps"].is_null()) << "no cost is told";
  EXPECT_GT(document["concurrent"][0]["joint_us"], 0);
}

}  // namespace
}  // namespace einkorn::profile
