#pragma once

// A folder of one compilation by a compiler that reads and writes files.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace einkorn::jit {

/// `<root>/einkorn-<6 random letters>`, mode 0700, root being $TMPDIR or /tmp; removed with all it
/// holds when this goes, also by an exception.
class ScratchFolder {
 public:
  /// RuntimeError: no such folder can be made.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// Absolute, without links.
  const std::string& path() const { return path_; }

  /// Writes `<path>/<name>`, with the folders above it. RuntimeError with the system's reason.
  void write(std::string_view name, std::string_view text) const;

  /// The whole file. RuntimeError: it is not there, that is, a compiler did not write its result.
  std::string read(std::string_view name) const;
  std::vector<std::byte> read_bytes(std::string_view name) const;

 private:
  std::string path_;
};

}  // namespace einkorn::jit
