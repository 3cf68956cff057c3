#include "src/jit/key_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "src/core/file.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Longest pause between two attempts: what a waiter may lose after the lock is free.
constexpr std::chrono::milliseconds kLongestPause{5};
// Between looks at who holds it, which reads all of /proc.
constexpr std::chrono::milliseconds kLookInterval{1000};
constexpr std::chrono::milliseconds kFirstLook{750};  // a wait of a second is told before it ends

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

/// "lock:\t1: OFDLCK ADVISORY WRITE -1 fe:00:123 <byte> <byte>", as /proc tells of an open file.
bool locks_byte(const std::string& facts, off_t byte) {
  const std::string range = fmt::format(" {0} {0}\n", byte);
  const std::size_t at = facts.find("OFDLCK");
  return at != std::string::npos && facts.find(range, at) != std::string::npos;
}

/// The process that holds the byte's lock, as far as /proc shows; 0: unknown. The lock itself names
/// none, since processes may share an open file.
pid_t holder_of(int file, off_t byte) {
  struct stat ours{};
  if (fstat(file, &ours) != 0) return 0;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::error_code hidden;  // ended meanwhile, or of another user
    for (fs::directory_iterator fd(at->path() / "fd", hidden), last; !hidden && fd != last;
         fd.increment(hidden)) {
      struct stat theirs{};
      if (stat(fd->path().c_str(), &theirs) != 0 || theirs.st_ino != ours.st_ino ||
          theirs.st_dev != ours.st_dev) {
        continue;
      }
      const fs::path facts = at->path() / "fdinfo" / fd->path().filename();
      if (locks_byte(read_file(facts.string()).text, byte))
        return static_cast<pid_t>(std::stol(name));
    }
  }
  return 0;
}

/// By a signal or a debugger: it may never go on.
bool is_stopped(pid_t process) {
  if (process <= 0) return false;
  const std::string facts = read_file(fmt::format("/proc/{}/stat", process)).text;
  const std::size_t name_end = facts.rfind(") ");  // the name may hold anything
  if (name_end == std::string::npos || name_end + 2 >= facts.size()) return false;
  const char state = facts[name_end + 2];
  return state == 'T' || state == 't';
}

}  // namespace

KeyLock::KeyLock(const std::string& file, const Digest& key, std::chrono::milliseconds wait,
                 const Tell& tell) {
  // Not made where it is: in a folder that all may write to, the system lets nobody "make" the file
  // of another user.
  file_ = open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (file_ < 0 && errno == ENOENT) {
    file_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  }
  if (file_ >= 0) wait_until(Clock::now() + wait, byte_of(key), tell);
}

void KeyLock::wait_until(Clock::time_point deadline, off_t byte, const Tell& tell) {
  Clock::time_point look = Clock::now() + kFirstLook;
  bool told = false;
  std::chrono::milliseconds pause{1};
  while (true) {
    const Attempt attempt = try_lock(file_, byte);
    held_ = attempt == Attempt::kHeld;
    if (attempt != Attempt::kTaken) return;
    waited_ = true;
    const Clock::time_point now = Clock::now();
    if (now >= deadline) return;
    if (now >= look) {
      const pid_t holder = holder_of(file_, byte);
      if (!told && tell) tell(holder);
      told = true;
      if (is_stopped(holder)) return;
      look = now + kLookInterval;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

KeyLock::~KeyLock() {
  if (file_ >= 0) close(file_);  // lets go of the lock
}

}  // namespace einkorn::jit
