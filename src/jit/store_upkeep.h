#pragma once

// Looking over a whole store: what is in it, whether it is sound, making room.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/jit/digest.h"

namespace einkorn::jit {

struct StoreEntry {
  std::string folder;
  std::string arch;
  std::string key;          ///< as its folder says
  std::uint64_t bytes = 0;  ///< of its files
  std::chrono::system_clock::time_point used;
};

/// In order of arch and key. Entries that vanish meanwhile are left out.
std::vector<StoreEntry> list_entries(std::string_view root);
std::uint64_t total_bytes(const std::vector<StoreEntry>& entries);

struct Collected {
  std::size_t removed = 0;
  std::uint64_t freed = 0;  ///< bytes
  std::uint64_t left = 0;   ///< bytes
};
/// Removes entries, longest unused first, until nine tenths of `max_bytes` are left, and what
/// killed processes left behind. An entry that a process has loaded stays good for that process.
Collected collect_garbage(std::string_view root, std::uint64_t max_bytes);

struct Unsound {
  std::string path;
  std::string reason;
};
/// Every entry whose artifact is not what its key and its checksum say; quarantined ones as well.
std::vector<Unsound> verify_store(std::string_view root);

/// Everything below `<root>/v1`. The reason when something could not be removed.
std::string clear_store(std::string_view root);

}  // namespace einkorn::jit
