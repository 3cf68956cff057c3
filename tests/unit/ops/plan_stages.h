#pragma once

// Launches of a plan without branches, as a test asks for them.

#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include <einkorn/plan.h>

namespace einkorn::test {

inline const LaunchStage& stage(const Plan& plan, std::size_t i) {
  return std::get<LaunchStage>(plan.stages.at(i).node);
}

template <class Params>
Params params_of(const LaunchStage& stage) {
  Params out;
  std::memcpy(&out, stage.params.data(), sizeof(out));
  return out;
}

inline std::vector<std::string> names(const Plan& plan) {
  std::vector<std::string> out;
  out.reserve(plan.stages.size());
  for (const Stage& one : plan.stages) out.push_back(std::get<LaunchStage>(one.node).name);
  return out;
}

}  // namespace einkorn::test
