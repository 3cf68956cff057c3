#pragma once

// One compilation of a key at a time on this machine, by locks that the kernel drops with their
// holder. Locks save work and nothing else: whoever waits too long goes on without.

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>

#include "src/jit/digest.h"

namespace einkorn::jit {

/// Held from construction to destruction, or not at all: see held().
class KeyLock {
 public:
  /// Told once, after about a second's wait: the process that holds it, 0 when that cannot be seen
  /// (on another machine, of another user).
  using Tell = std::function<void(pid_t holder)>;

  /// Locks one byte of `file`, chosen by the key. Waits up to `wait`, 0: not at all, and no longer
  /// for a process that is stopped. Trouble with the file (read-only, no locks on this file system)
  /// means that it is not held.
  KeyLock(const std::string& file, const Digest& key, std::chrono::milliseconds wait,
          const Tell& tell = {});
  ~KeyLock();
  KeyLock(const KeyLock&) = delete;
  KeyLock& operator=(const KeyLock&) = delete;

  bool held() const { return held_; }
  /// Somebody else held it when we came.
  bool waited() const { return waited_; }

 private:
  void wait_until(std::chrono::steady_clock::time_point deadline, off_t byte, const Tell& tell);

  int file_ = -1;
  bool held_ = false;
  bool waited_ = false;
};

}  // namespace einkorn::jit
