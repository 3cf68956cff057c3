#pragma once

// Nsight Compute's command, where it is installed.

#include <chrono>
#include <string>
#include <vector>

#include "src/cuda/dynamic_library.h"
#include "src/jit/program_search.h"

namespace einkorn::profile {

/// Where ncu is looked for; a value, so that tests can make one up.
struct NcuRoots {
  cuda::SearchRoots common;  ///< EINKORN_NCU, toolkits
  std::string path;          ///< PATH
  std::string default_toolkit = "/usr/local/cuda";
  std::string packages = "/opt/nvidia/nsight-compute";  ///< one folder a version below it

  static NcuRoots of_process();
};

/// EINKORN_NCU alone when it is set; else PATH, $CUDA_HOME/bin, $CUDA_PATH/bin,
/// /usr/local/cuda/bin, then the newest version of Nsight Compute's own package.
jit::ProgramSearch find_ncu(const NcuRoots& roots);

/// "2025.3.1.0"; empty when the program does not say.
std::string ncu_version(const std::string& ncu);

struct NcuRequest {
  std::string ncu;                   ///< path of the program
  std::vector<std::string> command;  ///< what to profile: argv
  int skip = 0;                      ///< kernels of it to pass over
  int count = 1;                     ///< kernels to profile after those
  std::chrono::seconds time_limit{300};
};

/// Runs the command below ncu, by argv; no shell takes part. Clocks are left alone and caches are
/// flushed before each pass: a kernel is measured cold, at the clocks that it runs with. The result
/// is what ncu printed, for parse_ncu_csv.
///
/// RuntimeError: ncu cannot be started, fails, may not read the counters (with what to do), or has
/// no kernel to profile; with the last of what it said.
std::string run_ncu(const NcuRequest& request);

}  // namespace einkorn::profile
