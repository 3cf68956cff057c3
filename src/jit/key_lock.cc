#include "src/jit/key_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
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
// Between looks at who holds it. The search for that reads all of /proc.
constexpr std::chrono::milliseconds kLookInterval{1000};
constexpr std::chrono::milliseconds kLongestLookInterval{30'000};
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

bool is_same_file(const std::string& path, const struct stat& file) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && info.st_ino == file.st_ino && info.st_dev == file.st_dev;
}

/// Whether that process holds the byte's lock, as far as /proc shows.
bool holds(pid_t process, const struct stat& file, off_t byte) {
  const fs::path facts = fmt::format("/proc/{}", process);
  std::error_code hidden;  // ended meanwhile, or of another user
  for (fs::directory_iterator at(facts / "fd", hidden), end; !hidden && at != end;
       at.increment(hidden)) {
    if (!is_same_file(at->path().string(), file)) continue;
    const fs::path lines = facts / "fdinfo" / at->path().filename();
    if (locks_byte(read_file(lines.string()).text, byte)) return true;
  }
  return false;
}

/// The process that holds it; 0: unknown. The lock itself names none, since processes may share an
/// open file.
pid_t find_holder(const struct stat& file, off_t byte) {
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    pid_t process = 0;
    const char* last = name.data() + name.size();
    const auto [stop, bad] = std::from_chars(name.data(), last, process);
    if (bad == std::errc() && stop == last && holds(process, file, byte)) return process;
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
  std::chrono::milliseconds look_pause = kLookInterval;
  std::optional<pid_t> holder;
  struct stat file{};
  if (fstat(file_, &file) != 0) return;
  std::chrono::milliseconds pause{1};
  while (true) {
    const Attempt attempt = try_lock(file_, byte);
    held_ = attempt == Attempt::kHeld;
    if (attempt != Attempt::kTaken) return;
    waited_ = true;
    const Clock::time_point now = Clock::now();
    if (now >= deadline) return;
    if (now >= look) {
      const bool first = !holder.has_value();
      if (first || !holds(*holder, file, byte)) holder = find_holder(file, byte);
      if (first && tell) tell(*holder);
      if (is_stopped(*holder)) return;
      // In vain is not tried often: on another machine, of another user.
      if (*holder == 0) look_pause = std::min(2 * look_pause, kLongestLookInterval);
      look = now + look_pause;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

KeyLock::~KeyLock() {
  if (file_ >= 0) close(file_);  // lets go of the lock
}

}  // namespace einkorn::jit
