#pragma once

// One compilation of a key at a time on this machine, by locks that the kernel drops with their
// holder. Locks save work and nothing else: whoever waits too long goes on without.

#include <chrono>
#include <string>

#include "src/jit/digest.h"

namespace einkorn::jit {

/// Held from construction to destruction, or not at all: see held().
class KeyLock {
 public:
  /// Locks one byte of `file`, chosen by the key. Waits up to `wait`, 0: not at all. Trouble with
  /// the file (read-only, no locks on this file system) means that it is not held.
  KeyLock(const std::string& file, const Digest& key, std::chrono::milliseconds wait);
  ~KeyLock();
  KeyLock(const KeyLock&) = delete;
  KeyLock& operator=(const KeyLock&) = delete;

  bool held() const { return held_; }
  /// Somebody else held it when we came.
  bool waited() const { return waited_; }

 private:
  int file_ = -1;
  bool held_ = false;
  bool waited_ = false;
};

}  // namespace einkorn::jit
