#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "src/jit/compiler.h"
#include "src/jit/digest.h"

namespace einkorn::jit {

/// Outcomes by key, for the life of the process.
class MemoryCache {
 public:
  /// The artifact of `key`, built by one caller while the others of that key wait. A failure is
  /// kept and thrown to every later caller; what `build` throws is not kept. `hit` tells whether
  /// it was there.
  std::shared_ptr<const Artifact> get(const Digest& key, const std::function<Outcome()>& build,
                                      bool* hit = nullptr);
  /// Entries that somebody waits for stay good for him.
  void clear();

 private:
  struct Slot {
    std::mutex mutex;
    std::optional<Outcome> outcome;
  };

  std::mutex mutex_;
  std::map<Digest, std::shared_ptr<Slot>> slots_;
};

}  // namespace einkorn::jit
