#pragma once

// What `jit run` has to say of one kernel or one function of the CPU.

#include <optional>
#include <string>
#include <vector>

#include <einkorn/jit.h>

#include "cli/run_arguments.h"
#include "cli/run_check.h"
#include "src/measure/sampler.h"

namespace einkorn::cli {

struct RunOutcome {
  std::string name;  ///< as the user gave it
  std::string arch;
  jit::Program program;
  std::optional<cuda::Launch> launch = {};  ///< of a kernel; then its resources are known, too
  double us = 0;                            ///< median of a launch or call
  double gbps = 0;                          ///< each tensor counted once
  std::string equation = {};
  std::optional<CheckOutcome> check = {};
};

/// "18 registers, 0 B static shared memory, 0 B spilled".
std::string resources_text(const jit::EntryPoint& entry);

/// The arguments as they are passed, with `tensors`, one for each tensor among them, in place of
/// those parsed.
std::vector<jit::Argument> arguments_with(const std::vector<RunArgument>& from,
                                          const std::vector<Tensor>& tensors);
/// Copies of the tensors among the arguments on a device.
std::vector<Tensor> tensors_on(const std::vector<RunArgument>& from, Device device);

/// Fills in `us` and `gbps`.
void measure_run(RunOutcome& out, measure::Sampler& sampler, const std::vector<Tensor>& tensors);

/// Prints it and gives the exit status.
int print_outcome(const RunOutcome& out, bool json);

}  // namespace einkorn::cli
