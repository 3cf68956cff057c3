#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/cuda/dynamic_library.h"
#include "src/jit/program_search.h"

namespace einkorn::jit {

/// Where a disassembler is looked for; a value, so that tests can make one up.
struct DisassemblerRoots {
  cuda::SearchRoots common;  ///< EINKORN_NVDISASM, toolkits, Python environments
  std::string path;          ///< PATH
  std::string default_toolkit = "/usr/local/cuda";

  static DisassemblerRoots of_process();
};

/// EINKORN_NVDISASM alone when it is set; else PATH, $CUDA_HOME/bin, $CUDA_PATH/bin,
/// /usr/local/cuda/bin, then CUDA wheels and Triton of the Python environments in which libraries
/// are looked for, too (see src/cuda/dynamic_library.h). In each, nvdisasm before cuobjdump.
ProgramSearch find_disassembler(const DisassemblerRoots& roots);

/// The instructions of a cubin as text, in the form of the tool that was found.
///
/// RuntimeError: no tool (with the places searched and how to get one), or it does not take the
/// cubin, as one that is older than the architecture; then with what it said.
std::string disassemble(std::span<const std::byte> cubin, const DisassemblerRoots& roots);
inline std::string disassemble(std::span<const std::byte> cubin) {
  return disassemble(cubin, DisassemblerRoots::of_process());
}

}  // namespace einkorn::jit
