#pragma once

// One compilation by a compiler that reads and writes files.

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/jit/compile_run.h"
#include "src/jit/compiler.h"
#include "src/jit/source_folder.h"

namespace einkorn::jit {

/// The folder of the compilation, its sources as files, and what becomes of them. The compiler
/// starts in the folder of sources; its own files lie beside that.
class FileJob {
 public:
  FileJob(const FileJob&) = delete;
  FileJob& operator=(const FileJob&) = delete;

 protected:
  /// `label` for people, "nvcc 13.0"; `appended` behind the main source; `excluded` as SourceFolder
  /// has it; `default_limit` in seconds.
  FileJob(const CompileInputs& inputs, std::string label, std::string_view appended,
          std::span<const std::filesystem::path> excluded, double default_limit);
  ~FileJob() = default;

  /// A file of the compiler's as it sees it.
  static std::string beside(std::string_view name) { return "../" + std::string(name); }

  /// As CompileRun::run, in the folder of sources; the compiler's temporary files go with ours when
  /// it is killed.
  bool run(const std::vector<std::string>& argv);

  Outcome failure(const std::string& log) const;

  /// The result in `file`, with the job's log and time.
  std::shared_ptr<Artifact> artifact(std::string_view file,
                                     std::span<const std::string> lowered) const;

  /// What the compiler read beyond the job's own files, by the depfile that it wrote.
  std::vector<std::string> dependencies(std::string_view depfile) const;

  const CompileInputs& inputs_;
  std::string label_;
  ScratchFolder scratch_;
  SourceFolder sources_;
  CompileRun run_;
};

}  // namespace einkorn::jit
