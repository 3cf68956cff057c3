// Predicted times: the rules, and how near they come to what was measured.

#include <einkorn/roofline.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <einkorn/cuda.h>
#include <einkorn/registry.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "src/core/file.h"
#include "tests/unit/file_tree.h"

namespace einkorn {
namespace {

/// 1000 GB/s, 10 TFLOP/s of f32, 1 us a launch; measured at 80 % of the memory.
DevicePeaks peaks(bool measured = false) {
  DevicePeaks out;
  out.datasheet.gbps = 1000;
  out.datasheet.tflops[0] = 10;
  out.launch_us = 1;
  if (measured) {
    out.measured = Peaks{};
    out.measured->gbps = 800;
  }
  return out;
}

Stage stage(const char* name, double bytes, double flops = 0) {
  HostStage out;
  out.name = name;
  out.cost = {.flops = flops, .bytes = bytes, .unit = Unit::kF32};
  return out;
}

Plan plan(std::vector<Stage> stages) {
  Plan out;
  out.stages = std::move(stages);
  return out;
}

std::vector<Stage> two(Stage first, Stage second) {
  std::vector<Stage> out;
  out.push_back(std::move(first));
  out.push_back(std::move(second));
  return out;
}

DeviceInfo device(DeviceKind kind) {
  DeviceInfo out;
  out.device.kind = kind;
  return out;
}

Prediction predict_with(const Plan& plan, const DevicePeaks& peaks, const Work& work = {}) {
  return predict(plan, device(DeviceKind::kCuda), work, peaks);
}

TEST(Predict, TheLongerOfMemoryAndArithmeticAndALaunch) {
  std::vector<Stage> one;
  one.push_back(stage("memory", 10e6, 10e6));  // 10 us against 1
  const Prediction memory = predict_with(plan(std::move(one)), peaks());
  EXPECT_DOUBLE_EQ(memory.us, 11);
  EXPECT_EQ(memory.bound, Bound::kMemory);
  std::vector<Stage> other;
  other.push_back(stage("compute", 1e6, 200e6));  // 1 us against 20
  const Prediction compute = predict_with(plan(std::move(other)), peaks());
  EXPECT_DOUBLE_EQ(compute.us, 21);
  EXPECT_EQ(compute.bound, Bound::kCompute);
  std::vector<Stage> small;
  small.push_back(stage("small", 1e3));
  EXPECT_EQ(predict_with(plan(std::move(small)), peaks()).bound, Bound::kLatency);
}

TEST(Predict, StagesInOrderAddUp) {
  const Prediction out = predict_with(plan(two(stage("a", 10e6), stage("b", 20e6))), peaks());
  EXPECT_DOUBLE_EQ(out.us, 32);
  ASSERT_EQ(out.stages.size(), 2U);
  EXPECT_EQ(out.stages[1].path, "b");
}

using Joint = decltype(Concurrent::joint);

Plan side_by_side(Stage first, Stage second, Joint joint = nullptr) {
  Concurrent node;
  node.name = "both";
  node.branches = two(std::move(first), std::move(second));
  node.joint = joint;
  std::vector<Stage> stages;
  stages.emplace_back(std::move(node));
  return plan(std::move(stages));
}

TEST(Predict, BranchesShareTheDevice) {
  const auto together = [](Stage first, Stage second) {
    return predict_with(side_by_side(std::move(first), std::move(second)), peaks()).us;
  };
  // 10 and 20 us of memory are 30 whoever goes first; one launch is hidden.
  EXPECT_DOUBLE_EQ(together(stage("a", 10e6), stage("b", 20e6)), 31);
  // Memory beside arithmetic: the longer hides the other.
  EXPECT_DOUBLE_EQ(together(stage("a", 10e6), stage("b", 1, 200e6)), 21);
}

TEST(Predict, BranchesThatCannotShareItRunInOrder) {
  const auto make = [](Joint joint) {
    return side_by_side(stage("a", 10e6), stage("b", 1, 200e6), joint);
  };
  EXPECT_NEAR(predict(make(nullptr), device(DeviceKind::kCpu), {}, peaks()).us, 11 + 21, 1e-9);
  const Plan refused = make([](std::span<const Stage>, const DeviceInfo&) {
    return std::optional<Refusal>(Refusal{"too large together"});
  });
  EXPECT_NEAR(predict_with(refused, peaks()).us, 11 + 21, 1e-9);
}

TEST(Predict, MeasuredPeaksComeFirst) {
  std::vector<Stage> one;
  one.push_back(stage("a", 10e6));
  const Prediction out = predict_with(plan(std::move(one)), peaks(true));
  EXPECT_DOUBLE_EQ(out.us, 13.5);
  EXPECT_DOUBLE_EQ(out.datasheet_us, 11);
  const Peaks best = peaks(true).best();
  EXPECT_EQ(best.tflops[0], 10) << "what was not measured is the datasheet's";
}

TEST(Predict, TheOnlyStageHasTheOpsWork) {
  std::vector<Stage> one;
  one.push_back(stage("a", 0));
  Work work;
  work.est_bytes = 10e6;
  EXPECT_DOUBLE_EQ(predict_with(plan(std::move(one)), peaks(), work).us, 11);
  const Plan several = plan(two(stage("a", 0), stage("b", 1)));
  EXPECT_EQ(predict_with(several, peaks(), work).us, 0) << "not known";
  EXPECT_EQ(predict_with(several, DevicePeaks{}, work).bound, Bound::kUnknown);
}

TEST(Predict, WhatFitsTheCacheIsMarked) {
  DeviceInfo device;
  device.l2_bytes = 1000;
  Work work;
  work.min_bytes = 999;
  EXPECT_TRUE(predict({}, device, work, peaks()).cache_resident);
  work.min_bytes = 1000;
  EXPECT_FALSE(predict({}, device, work, peaks()).cache_resident);
}

TEST(Predict, AnEmptyPlanTakesNoTime) {
  const Prediction out = predict_with({}, peaks());
  EXPECT_EQ(out.us, 0);
  EXPECT_TRUE(out.stages.empty());
}

nlohmann::json result_file(const std::filesystem::path& path) {
  return nlohmann::json::parse(read_file(path.string()).text);
}

/// Calls `body(document)` for each result file of an op whose name ends so.
template <class Body>
void each_result_file(std::string_view end, Body&& body) {
  for (const auto& file : std::filesystem::directory_iterator("bench/results")) {
    const std::string path = file.path().string();
    if (!path.ends_with(end)) continue;
    const nlohmann::json document = result_file(file.path());
    if (!document.contains("op")) continue;
    SCOPED_TRACE(path);
    body(document);
  }
}

/// What is predicted for one result, microseconds.
Prediction predict_result(const nlohmann::json& document, const nlohmann::json& result,
                          const DeviceInfo& device, const DevicePeaks& peaks) {
  const auto view = registry();
  const OpEntry& entry = view->find(document.at("op").get<std::string>());
  const AnyProblem problem =
      entry.op->parse(split_key_values(result.at("problem").get<std::string>()));
  const Variant& variant = view->find_variant(entry, result.at("variant").get<std::string>());
  const Plan plan = variant.plan(problem.get(), device, result.at("tiling").get<std::string>());
  return predict(plan, device, entry.op->work(problem.get()), peaks);
}

/// The model knows what moving the bytes takes, not what there is to do once a row.
bool has_long_rows(const nlohmann::json& result) {
  for (const auto& [key, value] : split_key_values(result.at("problem").get<std::string>())) {
    if (key == "cols") return std::stoll(value) >= 4096;
  }
  return false;
}

TEST(Predict, IsNearWhatWasMeasuredOnAnH100) {
  int compared = 0;
  const test::FileTree no_peaks;
  const test::Variable variable("EINKORN_CACHE_DIR", no_peaks.root().string());
  const DeviceInfo device = find_device_info("h100");
  each_result_file("-h100.json", [&](const nlohmann::json& document) {
    ASSERT_EQ(document.at("device"), device.name);
    for (const auto& result : document.at("results")) {
      if (result.at("roof") == "cache" || !has_long_rows(result)) continue;
      const Prediction out = predict_result(document, result, device, peaks_of(device));
      EXPECT_EQ(out.bound, Bound::kMemory);
      const double measured = result.at("median_us");
      EXPECT_NEAR(out.us / measured, 1, 0.15) << result.at("variant");
      ++compared;
    }
  });
  EXPECT_GE(compared, 12);
}

/// Of what is chosen there: a variant that gave way to a better one may be far from its roof.
TEST(Predict, IsNearWhatTheChosenTookOnAnH200) {
  int compared = 0;
  const test::FileTree no_peaks;
  const test::Variable variable("EINKORN_CACHE_DIR", no_peaks.root().string());
  const DeviceInfo device = find_device_info("h200");
  const auto view = registry();
  each_result_file("-h200.json", [&](const nlohmann::json& document) {
    if (!document.contains("results")) return;  // a profile
    const OpEntry& entry = view->find(document.at("op").get<std::string>());
    for (const auto& result : document.at("results")) {
      if (result.value("roof", "") != "memory" || !has_long_rows(result)) continue;
      const AnyProblem problem =
          entry.op->parse(split_key_values(result.at("problem").get<std::string>()));
      const Variant& chosen = select(entry, problem.get(), device);
      if (chosen.id() != result.at("variant").get<std::string>()) continue;
      const Prediction out = predict_result(document, result, device, peaks_of(device));
      EXPECT_EQ(out.bound, Bound::kMemory);
      const double measured = result.at("median_us");
      EXPECT_NEAR(out.us / measured, 1, 0.15) << chosen.id() << " " << result.at("problem");
      ++compared;
    }
  });
  EXPECT_GE(compared, 8);
}

// The copy that was timed beside an op is the roof of that minute, and no good one: it stores
// through the caches, and conversions and exponentials take longer than their flops tell.
TEST(Predict, IsOfTheOrderOfWhatWasMeasuredOnACpu) {
  int compared = 0;
  DeviceInfo host = cpu_info();
  each_result_file("-cpu.json", [&](const nlohmann::json& document) {
    for (const auto& result : document.at("results")) {
      if (!has_long_rows(result)) continue;
      DevicePeaks copy;
      const double bytes = result.at("gbps").get<double>() * result.at("median_us").get<double>();
      copy.measured = Peaks{};
      copy.measured->gbps = bytes / result.at("copy_us").get<double>();
      const Prediction out = predict_result(document, result, host, copy);
      EXPECT_NEAR(out.us, result.at("copy_us").get<double>(), 1);
      const double ratio = out.us / result.at("median_us").get<double>();
      EXPECT_GT(ratio, 0.6) << result.at("variant");
      EXPECT_LT(ratio, 1.4) << result.at("variant");
      ++compared;
    }
  });
  EXPECT_GE(compared, 4);
}

}  // namespace
}  // namespace einkorn
