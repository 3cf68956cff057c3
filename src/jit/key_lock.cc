#include "src/jit/key_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <thread>

namespace einkorn::jit {
namespace {

using Clock = std::chrono::steady_clock;

// Longest pause between two attempts: what a waiter may lose after the lock is free.
constexpr std::chrono::milliseconds kLongestPause{5};

/// One byte of a file that need not have it. 62 bits: two keys meet by chance once in 2^31 or so
/// held at a time.
off_t byte_of(const Digest& key) {
  std::uint64_t number = 0;
  std::memcpy(&number, key.bytes.data(), sizeof(number));
  return static_cast<off_t>(number >> 2);
}

enum class Attempt { kHeld, kTaken, kFailed };

/// Open-file-description locks: threads of one process exclude one another, too, and no close()
/// elsewhere in the process lets go of them.
Attempt try_lock(int file, off_t byte) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  while (fcntl(file, F_OFD_SETLK, &lock) != 0) {
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == EACCES ? Attempt::kTaken : Attempt::kFailed;
  }
  return Attempt::kHeld;
}

}  // namespace

KeyLock::KeyLock(const std::string& file, const Digest& key, std::chrono::milliseconds wait) {
  file_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0) return;
  const Clock::time_point deadline = Clock::now() + wait;
  std::chrono::milliseconds pause{1};
  while (true) {
    const Attempt attempt = try_lock(file_, byte_of(key));
    held_ = attempt == Attempt::kHeld;
    if (attempt != Attempt::kTaken) return;
    waited_ = true;
    if (Clock::now() >= deadline) return;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

KeyLock::~KeyLock() {
  if (file_ >= 0) close(file_);  // lets go of the lock
}

}  // namespace einkorn::jit
