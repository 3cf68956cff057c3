#pragma once

// Trials to begin from.

#include <string>
#include <utility>

#include "src/trials/trial.h"

namespace einkorn::trials {

inline Trial toy_trial(std::string tiling, double us, std::string problem = "rows=8 cols=4") {
  Trial out;
  out.op = "twice";
  out.variant = "twice/cpu/toy_v1";
  out.problem = std::move(problem);
  out.tiling = std::move(tiling);
  out.place = {
      .device = "Toy GPU 80GB", .cc = 90, .sm_count = 132, .driver = "1.0", .compiler = "c"};
  out.source = "s1";
  out.median_us = us;
  out.q1_us = us * 0.999;
  out.q3_us = us * 1.001;
  out.samples = 11;
  out.date = "2026-11-28T05:51:14Z";
  out.version = "0.1.0";
  out.commit = "abc";
  return out;
}

inline Trial failed_trial(std::string tiling, Status status) {
  Trial out = toy_trial(std::move(tiling), 1);
  out.status = status;
  out.reason = "because";
  out.median_us = out.q1_us = out.q3_us = 0;
  out.samples = 0;
  return out;
}

}  // namespace einkorn::trials
