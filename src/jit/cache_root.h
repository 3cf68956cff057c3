#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace einkorn::jit {

/// Made if need be, mode 0700. Empty when artifacts may be loaded from the folder and written to
/// it, otherwise why not: not a folder, of another user, writable by others, read-only, no space.
/// With `trust`, owner and mode do not matter.
std::string cannot_use_root(const std::string& root, uid_t owner, bool trust);

/// The first folder of cache_candidates() that can be used by that rule; empty when there is none,
/// with the reason of each in `reasons`. Without `make`, one that is not there is passed over.
std::string find_cache_root(bool make, std::string* reasons = nullptr);

}  // namespace einkorn::jit
