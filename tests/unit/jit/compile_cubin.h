#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <einkorn/jit.h>

namespace einkorn::test {

struct CompiledCubin {
  std::vector<std::byte> bytes;
  std::map<std::string, std::string> lowered;       ///< by the expression asked for
  std::map<std::string, jit::Resources> resources;  ///< by lowered name, as ptxas -v reports them
};

/// True when the NVRTC of this process compiles for that compute capability, e.g. 100.
bool nvrtc_knows(int cc);

/// Compiles with NVRTC itself, past einkorn's caches. Throws std::runtime_error with the log when
/// the source does not compile.
CompiledCubin compile_cubin(const std::string& source, const std::vector<std::string>& expressions,
                            const std::string& arch, const std::vector<std::string>& options = {});

}  // namespace einkorn::test
