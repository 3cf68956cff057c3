// The table of peaks, and those that a machine keeps of itself.

#include <einkorn/roofline.h>

#include <string>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/warning.h"
#include "src/roofline/saved_peaks.h"
#include "tests/unit/file_tree.h"
#include "tests/unit/golden.h"

namespace einkorn {
namespace {

using ::testing::HasSubstr;

TEST(Peaks, RidgePointsOfTheTable) {
  const auto ridge = [](const char* name) {
    const DevicePeaks peaks = peaks_of(cuda::known_device(name));
    return ridge_point(peaks.datasheet, Unit::kTensor16);
  };
  EXPECT_NEAR(ridge("a100"), 153, 1);
  EXPECT_NEAR(ridge("h100"), 295, 1);
  EXPECT_NEAR(ridge("h200"), 206, 1);
  EXPECT_EQ(ridge("sm_90"), 0) << "a plain capability has no peaks";
}

TEST(Peaks, EveryNamedDeviceHasAllUnits) {
  for (const char* name :
       {"a100", "h100", "h100_pcie", "h200", "b200", "l40s", "rtx4090", "rtx5090"}) {
    const DevicePeaks peaks = peaks_of(cuda::known_device(name));
    EXPECT_GT(peaks.datasheet.gbps, 800) << name;
    for (const Unit unit :
         {Unit::kF32, Unit::kF64, Unit::kTensorTf32, Unit::kTensor16, Unit::kTensorInt8}) {
      EXPECT_GT(peaks.datasheet.of(unit), 1) << name;
    }
    EXPECT_LE(peaks.best().gbps, peaks.datasheet.gbps) << name;
  }
}

TEST(Peaks, AreKeptAndReadAgain) {
  const test::FileTree cache;
  const test::Variable variable("EINKORN_CACHE_DIR", cache.root().string());
  EXPECT_FALSE(peaks_of("Some Chip 3").measured);
  Peaks peaks;
  peaks.gbps = 123.5;
  peaks.tflops[static_cast<std::size_t>(Unit::kTensor16)] = 7;
  peaks.source = "measured 2026-11-28";
  EXPECT_EQ(roofline::save_peaks("Some Chip 3", peaks), cache.path("peaks/some_chip_3.json"));
  const DevicePeaks found = peaks_of("Some Chip 3");
  ASSERT_TRUE(found.measured);
  EXPECT_EQ(found.measured->gbps, 123.5);
  const Peaks again =
      roofline::parse_peaks(roofline::print_peaks("Some Chip 3", peaks), "Some Chip 3");
  EXPECT_EQ(again.of(Unit::kTensor16), 7);
  EXPECT_EQ(again.source, "measured 2026-11-28");
}

TEST(Peaks, ABrokenFileIsNotUsed) {
  const test::FileTree cache;
  const test::Variable variable("EINKORN_CACHE_DIR", cache.root().string());
  cache.write("peaks/some_chip_4.json", "{\"schema\": 1");
  std::string said;
  set_warning_handler([&](const std::string& text) { said += text; });
  EXPECT_FALSE(peaks_of("Some Chip 4").measured);
  set_warning_handler({});
  EXPECT_THAT(said, HasSubstr(cache.path("peaks/some_chip_4.json") + ": measured peaks are not"));
}

TEST(Peaks, GoToTheFirstFolderThatCanBeWritten) {
  const test::FileTree tree;
  const test::Variable no_cache("EINKORN_CACHE_DIR", std::nullopt);
  // A file where the preferred folder would be; nobody can make a folder below it, root included.
  const test::Variable first("XDG_CACHE_HOME", tree.write("file"));
  const test::Variable second("HOME", tree.path("home"));
  Peaks peaks;
  peaks.gbps = 5;
  EXPECT_EQ(roofline::save_peaks("Some Chip 5", peaks),
            tree.path("home/.cache/einkorn/peaks/some_chip_5.json"));
  const test::Variable only("EINKORN_CACHE_DIR", tree.path("file/cache"));
  EXPECT_FALSE(peaks_of("Some Chip 5").measured);
  EXPECT_THAT(test::error_text([&] { roofline::save_peaks("Some Chip 5", peaks); }),
              HasSubstr(tree.path("file/cache/peaks/some_chip_5.json: ")));
}

TEST(Peaks, SaysWhatIsWrongWithAFile) {
  test::GoldenErrors errors("errors/peaks.txt");
  const auto parse = [](std::string_view text) { roofline::parse_peaks(text, "chip"); };
  errors.add("another schema", [&] { parse("{\"schema\": 2}"); });
  errors.add("another device", [&] { parse(R"({"schema": 1, "device": "other"})"); });
  const std::string head = R"({"schema": 1, "device": "chip", "source": "", )";
  errors.add("no bandwidth", [&] { parse(head + R"("tflops": {}})"); });
  errors.add("bandwidth below zero", [&] { parse(head + R"("gbps": -1, "tflops": {}})"); });
  errors.add("a text for a rate", [&] { parse(head + R"("gbps": 1, "tflops": {"f32": "1"}})"); });
}

}  // namespace
}  // namespace einkorn
