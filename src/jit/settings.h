#pragma once

// What the environment says about compiling and caching.

#include <cstdint>
#include <string>
#include <vector>

namespace einkorn::jit {

enum class Mode {
  kOn,         ///< memory, packs, the store, compilers
  kCacheOnly,  ///< all but the compilers
  kOff,        ///< packs alone
};

struct Settings {
  Mode mode = Mode::kOn;                  ///< EINKORN_JIT
  std::string cache_dir;                  ///< EINKORN_CACHE_DIR; empty: cache_candidates()
  std::vector<std::string> packs;         ///< EINKORN_PACK, separated by ':'
  std::uint64_t max_bytes = 10ULL << 30;  ///< EINKORN_CACHE_MAX, of the whole store
  bool trust = false;                     ///< EINKORN_CACHE_TRUST=1: others' artifacts count too

  /// ValueError that names the variable, for a value that means nothing.
  static Settings from_environment();
};

/// Where the store may be, in order: EINKORN_CACHE_DIR alone when set, else
/// $XDG_CACHE_HOME/einkorn, ~/.cache/einkorn, $TMPDIR/einkorn-<uid>/cache.
std::vector<std::string> cache_candidates(const Settings& settings);

/// "512M", "10G", "1T" or plain bytes. ValueError naming `variable`.
std::uint64_t parse_bytes(const std::string& variable, const std::string& text);

}  // namespace einkorn::jit
