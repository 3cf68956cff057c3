// Trials of a tuner, and the stage times of a profile.

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "src/report/data.h"

namespace einkorn::report {
namespace {

using Key = std::tuple<std::string, std::string, std::string>;  // variant, problem, conditions

bool measured(const Trial& trial) { return trial.status == "ok" && trial.time.median_us > 0; }

Json trial_json(const Trial& trial, int order, bool best) {
  return {{"order", order},
          {"tiling", trial.tiling},
          {"status", trial.status},
          {"reason", trial.reason.empty() ? Json() : Json(trial.reason)},
          {"measured", measured(trial)},
          {"best", best},
          {"median_us", known(trial.time.median_us)},
          {"q1_us", known(trial.time.q1_us)},
          {"q3_us", known(trial.time.q3_us)},
          {"predicted_us", known(trial.predicted_us)},
          {"date", trial.origin.date},
          {"source", trial.origin.path}};
}

Json group_json(const Key& key, const std::vector<const Trial*>& trials) {
  const Trial* best = nullptr;
  for (const Trial* trial : trials) {
    if (!measured(*trial)) continue;
    if (best == nullptr || trial->time.median_us < best->time.median_us) best = trial;
  }
  Json rows = Json::array();
  for (std::size_t i = 0; i < trials.size(); ++i) {
    rows.push_back(trial_json(*trials[i], static_cast<int>(i) + 1, trials[i] == best));
  }
  return {{"op", trials.front()->op},
          {"variant", std::get<0>(key)},
          {"problem", std::get<1>(key)},
          {"conditions", std::get<2>(key)},
          {"trials", std::move(rows)}};
}

Json profile_json(const ProfileDocument& profile) {
  Json stages = Json::array();
  for (const StageTime& stage : profile.stages) {
    stages.push_back({{"name", stage.name},
                      {"depth", stage.depth},
                      {"median_us", known(stage.time.median_us)},
                      {"q1_us", known(stage.time.q1_us)},
                      {"q3_us", known(stage.time.q3_us)},
                      {"predicted_us", known(stage.predicted_us)}});
  }
  return {{"variant", profile.variant},          {"problem", profile.problem},
          {"total_us", known(profile.total_us)}, {"stages", std::move(stages)},
          {"date", profile.origin.date},         {"commit", profile.origin.commit},
          {"source", profile.origin.path}};
}

}  // namespace

Json tuning_data(std::span<const Trial> trials) {
  std::map<Key, std::vector<const Trial*>> groups;
  for (const Trial& trial : trials)
    groups[{trial.variant, trial.problem, trial.conditions}].push_back(&trial);
  Json out = Json::array();
  for (const auto& [key, group] : groups) out.push_back(group_json(key, group));
  return out;
}

Json stages_data(std::span<const ProfileDocument> profiles) {
  std::map<std::pair<std::string, std::string>, const ProfileDocument*> newest;
  for (const ProfileDocument& profile : profiles) {
    const ProfileDocument*& best = newest[{profile.variant, profile.problem}];
    // Folders are named by time, and read in the order of names: of equal dates the later counts.
    if (best == nullptr || best->origin.date <= profile.origin.date) best = &profile;
  }
  Json out = Json::array();
  for (const auto& [key, profile] : newest) out.push_back(profile_json(*profile));
  return out;
}

}  // namespace einkorn::report
