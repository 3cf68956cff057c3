#pragma once

// Trials on disk: JSON lines that are only ever appended to, one file an op and device.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "src/trials/trial.h"

namespace einkorn::trials {

/// A line that is no trial.
struct BadLine {
  std::string file;
  int line = 0;  ///< from 1
  std::string why;

  std::string text() const;  ///< "file:line: why"
};

struct Reading {
  std::vector<Trial> trials;  ///< in the order of the lines
  std::vector<int> lines;     ///< of each trial, from 1
  std::vector<BadLine> bad;   ///< among them those of another schema
};

/// All lines of a text; a last line without a newline counts. Empty lines are none.
Reading read_text(std::string_view text, const std::string& file);

/// The file. RuntimeError with the system's reason when it cannot be read.
Reading read_trials(const std::string& file);

/// Safe from several threads; several processes and stores may share a root.
class TrialStore {
 public:
  /// Files are <root>/v1/<device>/<op>.jsonl; they and their folders are made by the first add().
  /// An empty root: in memory only.
  explicit TrialStore(std::string root);

  const std::string& root() const { return root_; }
  std::string file_of(std::string_view op, std::string_view device_name) const;

  /// Appends one line with a single write under a lock, after mending a line that a writer before
  /// left torn. What cannot be written is kept in memory, with one warning; nothing is thrown.
  void add(const Trial& trial);

  /// The op's trials of one device, those in memory last. A file that cannot be read has none.
  Reading read(std::string_view op, std::string_view device_name) const;

  /// The op's trials of all devices, sorted by file.
  Reading read_all(std::string_view op) const;

  /// Files of all ops and devices, sorted.
  std::vector<std::string> files() const;

 private:
  /// Whole lines read so far; a file that only grew is read from there on.
  struct Known {
    std::uint64_t inode = 0;
    std::int64_t device = 0;
    std::int64_t bytes = 0;
    int lines = 0;
    Reading reading;
  };

  std::string append(const std::string& file, const std::string& line) const;
  void refresh(const std::string& file, Known& known) const;
  const Reading& reading_of(const std::string& file) const;

  std::string root_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Known> known_;
  std::vector<Trial> memory_;
};

/// The user's: EINKORN_TRIALS, else "trials" in the cache folder (EINKORN_CACHE_DIR and so on, the
/// first that can be used). EINKORN_TRIALS=off: in memory, and nothing else is read. With `make`
/// the folder may be made, for writing; without it a missing one is a store without files.
TrialStore& user_store(bool make);

}  // namespace einkorn::trials
