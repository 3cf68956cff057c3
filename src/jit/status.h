#pragma once

// What the JIT layer has at its disposal, for people.

#include <cstdint>
#include <string>
#include <vector>

#include "src/jit/store_content.h"

namespace einkorn::jit {

struct CacheStatus {
  std::string mode;  ///< "on", "cache-only", "off"
  std::string root;  ///< empty: memory only
  std::uint64_t max_bytes = 0;
  std::size_t entries = 0;
  std::uint64_t bytes = 0;             ///< of the disk
  std::string read_only;               ///< why nothing can be written to it; empty: it can
  std::vector<std::string> also_read;  ///< folders asked for what it lacks
  std::vector<Unsound> unreadable;     ///< folders in it, not counted
  std::vector<std::string> packs;
};

/// Of this process's service; empty: memory only. Makes the cache folder when it is not there.
std::string cache_root();

/// Looks through the whole cache. Makes the cache folder when it is not there.
CacheStatus cache_status();

struct CompilerStatus {
  std::string name;      ///< "nvrtc"
  std::string identity;  ///< empty: not usable
  std::string reason;    ///< why not
};
std::vector<CompilerStatus> compiler_status();

}  // namespace einkorn::jit
