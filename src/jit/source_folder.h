#pragma once

// A source set as files, for compilers that read the disk.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/jit/scratch_folder.h"
#include "src/jit/source_set.h"

namespace einkorn::jit {

/// The files of a set below `<scratch>/src`, where the compiler starts, so that what it writes into
/// its result ("k.cu", "./a/b.h") does not depend on the place of the folder.
///
/// Names that lead out of the folder, or that mean something to a shell or to a compiler's command
/// line, are replaced: nvcc hands its arguments to one. Include directives that name files of the
/// set are rewritten to `<name on disk>`, so that `-I.` alone decides what they read.
class SourceFolder {
 public:
  /// Writes everything, with `appended` behind the main source. Files below a folder of `excluded`
  /// (real paths) are left for the compiler to find. RuntimeError: they cannot be written.
  SourceFolder(const ScratchFolder& scratch, const SourceSet& sources, std::string_view appended,
               std::span<const std::filesystem::path> excluded = {});

  /// Where the compiler is to start.
  const std::string& path() const { return path_; }
  /// The main source, relative to path().
  const std::string& main() const { return main_; }

  /// A folder as `-I` may have it: itself, or a link to it beside path() when its name means
  /// something to a shell. Relative ones count from this process's working folder.
  std::string include_folder(const std::string& folder);

  /// A compiler's log with the names of the set, and without the path of this folder.
  std::string with_names(std::string text) const;

 private:
  const ScratchFolder& scratch_;
  std::string path_;
  std::string main_;
  std::vector<std::pair<std::string, std::string>> renamed_;  // on disk, in the set
  int links_ = 0;
};

/// Every `from` by `to`.
void replace_all(std::string& text, std::string_view from, std::string_view to);

}  // namespace einkorn::jit
