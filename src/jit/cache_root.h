#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "src/jit/settings.h"

namespace einkorn::jit {

/// What a folder is good for as a root of the store.
struct RootUse {
  std::string refused = {};  ///< why nothing may be loaded from it; empty: it may
  std::string read_only =
      {};  ///< why nothing can be written to it; empty: it can, or it is refused
};

/// Made if need be, mode 0700. Refused: not a folder, unreadable, of another user, writable by
/// others; with `trust`, owner and mode do not matter. A folder of user 0 counts as one's own: who
/// is user 0 needs no cache to run code as anybody.
RootUse use_of_root(const std::string& root, uid_t owner, bool trust);

struct CacheRoot {
  std::string path = {};                  ///< empty: there is none
  std::string read_only = {};             ///< why nothing can be written to it; empty: it can
  std::vector<std::string> refused = {};  ///< those before it, "folder: why not"
  /// Those before it that hold a store and can only be read.
  std::vector<std::string> also_read = {};
};

/// The first folder of cache_candidates() that can be read and written by that rule; where there is
/// none, the first that can be read. Without `make`, one that is not there is passed over.
CacheRoot find_cache_root(const Settings& settings, bool make);

}  // namespace einkorn::jit
