#pragma once

// Keeping a store sound and within its room.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/jit/store_content.h"

namespace einkorn::jit {

struct Collected {
  std::size_t removed = 0;  ///< entries
  std::uint64_t freed = 0;  ///< bytes of the disk
  std::uint64_t left = 0;   ///< bytes of the disk, with all that the store is made of
};
/// Removes what killed processes left behind and, when that is not enough, damaged entries, then
/// entries and what compilers read for them, longest unused first, until nine tenths of `max_bytes`
/// are left. An entry that a process has loaded stays good for that process.
Collected collect_garbage(std::string_view root, std::uint64_t max_bytes);

/// Removes what killed processes left behind, and damaged entries, once they are an hour old. Does
/// not look at the entries.
void sweep(std::string_view root);

/// Every entry whose artifact or description is not what its key, its place and its checksum say;
/// quarantined ones and folders that cannot be read as well.
std::vector<Unsound> verify_store(std::string_view root);

/// Removes what verify_store() finds, as far as it may be removed; what was freed.
Collected remove_unsound(std::string_view root);

/// The entry that is in place at `folder` goes out of sight at once, then from the disk: no reader
/// meets half of it. False when it could not be moved.
bool remove_whole(std::string_view root, const std::string& folder);

/// Everything below `<root>/v1` and `<root>/compilers`. The reason when something could not be
/// removed.
std::string clear_store(std::string_view root);

}  // namespace einkorn::jit
