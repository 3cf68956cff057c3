#pragma once

// What a whole store holds, and what that takes of the disk.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace einkorn::jit {

struct StoreEntry {
  std::string folder;
  std::string arch;
  std::string key;          ///< as its folder says
  std::uint64_t bytes = 0;  ///< that it takes of the disk
  std::chrono::system_clock::time_point used;
};

/// A file of paths that a compiler read.
struct StoreDependencies {
  std::string path;
  std::uint64_t bytes = 0;
  std::chrono::system_clock::time_point used;
};

struct Unsound {
  std::string path;
  std::string reason;
};

struct StoreContent {
  std::vector<StoreEntry> entries;  ///< in order of arch and key
  std::vector<StoreDependencies> dependencies;
  std::vector<std::string> leftovers;    ///< private folders and files, whosever they are
  std::vector<std::string> quarantined;  ///< damaged entries
  std::vector<Unsound> unreadable;       ///< folders whose content is not known, so not in here
  std::uint64_t bytes = 0;               ///< of the disk, for all of it and the folders themselves
};

/// Looks through the store. What vanishes meanwhile is left out.
StoreContent look_over(std::string_view root);

/// look_over().entries alone.
std::vector<StoreEntry> list_entries(std::string_view root);

}  // namespace einkorn::jit
