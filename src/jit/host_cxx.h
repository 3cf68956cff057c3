#pragma once

// The C++ compiler of this machine: where it is.

#include <optional>
#include <string>
#include <vector>

namespace einkorn::jit {

/// What the process contributes to the search; a value, so that tests can make one up.
struct HostCxxRoots {
  std::string override_command;  ///< EINKORN_HOST_CXX, or empty; when set nothing else is tried
  std::string cxx;               ///< CXX, or empty
  std::string path;              ///< PATH

  static HostCxxRoots of_process();
};

struct HostCxxSearch {
  std::vector<std::string> command;  ///< a program and its first words; empty: not found
  std::vector<std::string> tried;    ///< in order
};

/// EINKORN_HOST_CXX, CXX, then c++, g++ and clang++ in PATH. The variables hold a path, a name in
/// PATH, or words such as "ccache g++".
HostCxxSearch find_host_cxx(const HostCxxRoots& roots);

}  // namespace einkorn::jit
