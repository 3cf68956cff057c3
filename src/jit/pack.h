#pragma once

// Artifacts compiled ahead, in one folder that a program ships: EINKORN_PACK names it. It is laid
// out like the store, but keyed by content without the compiler, so that it is found where there is
// none.

#include <string>
#include <vector>

#include <einkorn/jit.h>

namespace einkorn::jit {

struct PackEntry {
  std::string file;
  std::string arch;
  std::vector<std::string> expressions;
  std::uint64_t bytes = 0;
};

/// Writes a pack. Nothing is at the final place before finish().
class PackWriter {
 public:
  /// ValueError: `folder` is empty text, or is there and is neither an empty folder nor, with
  /// `overwrite`, a pack that holds nothing else. RuntimeError: it cannot be written.
  PackWriter(std::string folder, bool overwrite);
  ~PackWriter();
  PackWriter(const PackWriter&) = delete;
  PackWriter& operator=(const PackWriter&) = delete;

  /// RuntimeError: it cannot be written.
  void add(const Request& request, const Program& program);
  /// Writes `pack.json` and puts the folder in place. ValueError: something came to be there that
  /// the constructor would refuse. RuntimeError: it cannot be written.
  void finish();

  const std::vector<PackEntry>& entries() const { return entries_; }

 private:
  std::string folder_;
  bool overwrite_;
  std::string temporary_;
  std::vector<PackEntry> entries_;
};

}  // namespace einkorn::jit
