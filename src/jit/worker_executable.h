#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/jit/program_search.h"

namespace einkorn::jit {

/// What the process contributes to the search; a value, so that tests can make one up.
struct WorkerRoots {
  std::optional<std::string> override_path;  ///< EINKORN_JIT_WORKER, when set
  /// Folders of the executable and of the file that has einkorn's code.
  std::vector<std::filesystem::path> anchors;

  static WorkerRoots of_process();
};

/// The variable alone when it is set, else `.`, `lib`, `../lib` and `../libexec/einkorn` of each
/// anchor.
ProgramSearch find_worker(const WorkerRoots& roots);

}  // namespace einkorn::jit
