#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "src/jit/settings.h"

namespace einkorn::jit {

/// Made if need be, mode 0700. Empty when artifacts may be loaded from the folder and written to
/// it, otherwise why not: not a folder, of another user, writable by others, read-only, no space.
/// With `trust`, owner and mode do not matter.
std::string cannot_use_root(const std::string& root, uid_t owner, bool trust);

struct CacheRoot {
  std::string path;                  ///< empty: there is none
  std::vector<std::string> refused;  ///< those before it, "folder: why not"
};

/// The first folder of cache_candidates() that can be used by that rule. Without `make`, one that
/// is not there is passed over.
CacheRoot find_cache_root(const Settings& settings, bool make);

}  // namespace einkorn::jit
