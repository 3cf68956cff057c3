#pragma once

// Files to be made or changed together: shown as a diff, or written, all or none.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace einkorn::versions {

struct FileChange {
  std::string path;                   ///< from the root
  std::optional<std::string> before;  ///< nothing: a new file
  std::string after;
};

/// As `git diff` prints it, three lines around each change. One hunk a file, from the first line
/// that differs to the last.
std::string unified_diff(std::span<const FileChange> changes);

/// Writes all of them below `root`. When one cannot be written, or a new one is there already, what
/// was written before is undone. RuntimeError with the path and the reason.
void write_changes(const std::string& root, std::span<const FileChange> changes);

}  // namespace einkorn::versions
