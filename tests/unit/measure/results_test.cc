#include "src/measure/results.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <einkorn/error.h>
#include <einkorn/version.h>

namespace einkorn::measure {
namespace {

namespace fs = std::filesystem;

DeviceInfo some_cpu() {
  DeviceInfo device;
  device.name = "Some CPU (R) @ 2.0 GHz";
  return device;
}

BenchResult some_result() {
  BenchResult result;
  result.variant = "twice/cpu/toy_v1";
  result.case_name = "small";
  result.timing = {10.12345, 9, 11, 12};
  result.roof = "memory";
  result.peers.push_back({"torch", "2.0", {20, 19, 21, 12}, ""});
  result.peers.push_back({"liger", "", {}, "needs a CUDA device"});
  return result;
}

TEST(Results, HoldWhatACallerNeedsToCompare) {
  const std::vector<BenchResult> results{some_result()};
  const auto json = nlohmann::json::parse(results_json("twice", some_cpu(), results));
  EXPECT_EQ(json["device"], "Some CPU (R) @ 2.0 GHz");
  EXPECT_EQ(json["driver"], "");
  EXPECT_EQ(json["commit"], std::string(git_commit()));
  EXPECT_EQ(json["versions"]["einkorn"], std::string(version()));
  EXPECT_EQ(json["versions"]["torch"], "2.0");
  EXPECT_FALSE(json["versions"].contains("liger"));
  EXPECT_THAT(json["date"].get<std::string>(), testing::EndsWith("Z"));
  const auto& one = json["results"][0];
  EXPECT_EQ(one["variant"], "twice/cpu/toy_v1");
  EXPECT_EQ(one["case"], "small");
  EXPECT_EQ(one["median_us"], 10.123);
  EXPECT_EQ(one["peers"][0]["median_us"], 20);
  EXPECT_EQ(one["peers"][1]["skipped"], "needs a CUDA device");
  EXPECT_FALSE(one["peers"][1].contains("median_us"));
  EXPECT_FALSE(one.contains("failure"));
}

TEST(Results, FailureIsSaid) {
  BenchResult result = some_result();
  result.failure = "accounting error";
  const std::vector<BenchResult> results{result};
  const auto json = nlohmann::json::parse(results_json("twice", some_cpu(), results));
  EXPECT_EQ(json["results"][0]["failure"], "accounting error");
}

TEST(Results, FileNameIsPlain) {
  EXPECT_THAT(results_file_name("twice", some_cpu()),
              testing::MatchesRegex("[0-9]+-[0-9]+-[0-9]+-twice-some_cpu_r_2_0_ghz.json"));
}

TEST(Results, WritesAndMakesFolders) {
  const fs::path folder = fs::path(testing::TempDir()) / "einkorn_results_test";
  fs::remove_all(folder);
  const fs::path path = folder / "deep" / "file.json";
  const std::vector<BenchResult> results{some_result()};
  write_results(path.string(), "twice", some_cpu(), results);
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(nlohmann::json::parse(text.str())["op"], "twice");
  EXPECT_FALSE(fs::exists(path.string() + ".tmp"));
  // A file where a folder is needed.
  EXPECT_THROW(write_results((path / "x.json").string(), "twice", some_cpu(), results), Error);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace einkorn::measure
