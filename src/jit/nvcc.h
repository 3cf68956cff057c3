#pragma once

// The CUDA toolkit's compiler driver: where it is and what it is exactly.

#include <optional>
#include <string>
#include <vector>

#include "src/jit/inputs.h"
#include "src/jit/program_search.h"

namespace einkorn::jit {

/// What the process contributes to the search; a value, so that tests can make one up.
struct NvccRoots {
  std::optional<std::string> override_path;  ///< EINKORN_NVCC, when set: nothing else is tried
  std::string path;                          ///< PATH
  std::vector<std::string> toolkits;         ///< $CUDA_HOME, $CUDA_PATH, /usr/local/cuda

  static NvccRoots of_process();
};

ProgramSearch find_nvcc(const NvccRoots& roots);

/// Why nvcc cannot compile these inputs here, or nothing: it or its host compiler is missing, or an
/// option holds what nvcc would have a shell interpret.
std::optional<std::string> nvcc_refusal(const CompileInputs& inputs);

/// Path of this process's nvcc. RuntimeError with the places searched.
std::string nvcc_path();

/// "13.0"
std::string nvcc_version(const std::string& path);

/// Exact: toolkit build, sizes of its programs, the host compiler that preprocesses, and what the
/// environment adds to nvcc's options.
std::string nvcc_identity(const std::string& path);

}  // namespace einkorn::jit
