#pragma once

// One request on its way through a Service.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "src/jit/service.h"

namespace einkorn::jit {

using Clock = std::chrono::steady_clock;

inline double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Service::Job {
  const CompileInputs& inputs;
  Trace* trace;
  std::vector<Compiler*> usable = {};
  std::vector<Compiler*> absent = {};                           // the others
  std::vector<std::string> refusals = {};                       // "nvcc: <reason>", of these
  std::vector<std::pair<std::string, std::string>> packs = {};  // asked in vain; why, or "miss"
  Outcome outcome = {};

  void note(std::string place, std::string what, Clock::time_point since) const {
    if (trace != nullptr) {
      trace->steps.push_back({std::move(place), std::move(what), ms_since(since)});
    }
  }
};

}  // namespace einkorn::jit
