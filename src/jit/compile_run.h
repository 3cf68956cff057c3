#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "src/jit/inputs.h"

namespace einkorn::jit {

/// The programs of one compilation, run one after the other under one time limit.
class CompileRun {
 public:
  /// `compiler` is for messages: "nvcc 13.0". `limit` in seconds. Counts one compilation.
  CompileRun(const CompileInputs& inputs, std::string compiler, double limit);

  /// True when the program came to exit status 0. Its output and errors go to log(). RuntimeError:
  /// the time limit, a signal that ended it or the compiler that it drives, no such program.
  /// `environment` as in subprocess::Options.
  bool run(const std::vector<std::string>& argv, const std::string& folder,
           const std::vector<std::string>& environment = {});

  const std::string& log() const { return log_; }
  double elapsed_ms() const;

 private:
  using Clock = std::chrono::steady_clock;

  const CompileInputs& inputs_;
  std::string compiler_;
  double limit_;  // seconds
  Clock::time_point start_ = Clock::now();
  std::string log_;
};

}  // namespace einkorn::jit
