#include "src/core/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/death_watch.h"
#include "src/core/environment.h"

extern "C" char** environ;

namespace einkorn::subprocess {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Between looks at the child where the kernel has no pidfd (Linux before 5.3).
constexpr milliseconds kLookInterval{10};
// A program that runs longer does not outlive this process; a shell watches over it.
constexpr milliseconds kUnwatched{20};
// Longest time limit: keeps deadlines within the clock's range.
constexpr milliseconds kLongestLimit = std::chrono::hours(24 * 365);
constexpr std::size_t kReadBytes = std::size_t{64} << 10;

[[noreturn]] void fail(std::string_view program, std::string_view what, int error) {
  throw_error(ErrorKind::kRuntime,
              fmt::format("subprocess: {}: {}: {}", program, what, std::strerror(error)));
}

/// A file of ours, closed when this goes.
class File {
 public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File() { close(); }

  int get() const { return descriptor_; }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

  /// Above the standard ones: in a process that closed those, a new file takes their numbers, and
  /// the child's redirections would overwrite each other.
  void move_above_standard(std::string_view program) {
    if (descriptor_ < 0 || descriptor_ > STDERR_FILENO) return;
    const int moved = fcntl(descriptor_, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (moved < 0) fail(program, "cannot duplicate a file", errno);
    *this = File(moved);
  }

 private:
  int descriptor_ = -1;
};

/// One stream that the child writes and we read.
struct Pipe {
  File read, write;

  explicit Pipe(std::string_view program) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail(program, "cannot make a pipe", errno);
    read = File(ends[0]);
    write = File(ends[1]);
    read.move_above_standard(program);
    write.move_above_standard(program);
    // Of our end only: the child's writes have to block.
    if (fcntl(read.get(), F_SETFL, O_NONBLOCK) != 0) fail(program, "cannot set up a pipe", errno);
  }

  /// Reads what is there, at most `limit` bytes; closes our end when the stream has ended.
  void take(std::string& into, std::size_t limit) {
    std::array<char, kReadBytes> buffer;
    std::size_t taken = 0;
    while (read.get() >= 0 && taken < limit) {
      const ssize_t count =
          ::read(read.get(), buffer.data(), std::min(buffer.size(), limit - taken));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count <= 0) return read.close();
      into.append(buffer.data(), static_cast<std::size_t>(count));
      taken += static_cast<std::size_t>(count);
    }
  }

  /// Reads the rest that the kernel holds, and no more: somebody may write for ever.
  void drain(std::string& into) {
    if (read.get() < 0) return;
    const int capacity = fcntl(read.get(), F_GETPIPE_SZ);
    take(into, capacity > 0 ? static_cast<std::size_t>(capacity) : kReadBytes);
  }
};

/// The input as a file in memory: the child can read it at its pace, or not at all, and we never
/// wait or get SIGPIPE.
File make_input(std::string_view program, std::string_view bytes) {
  File file(bytes.empty() ? open("/dev/null", O_RDONLY | O_CLOEXEC)
                          : memfd_create("input", MFD_CLOEXEC));
  if (file.get() < 0) fail(program, "cannot make its input", errno);
  while (!bytes.empty()) {
    const ssize_t count = write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(program, "cannot write its input", errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  lseek(file.get(), 0, SEEK_SET);
  file.move_above_standard(program);
  return file;
}

std::string_view variable_name(std::string_view assignment) {
  return assignment.substr(0, assignment.find('='));
}

/// This process's environment with `extra` in place of what it has by the same names.
std::vector<std::string> merge_environment(const std::vector<std::string>& extra) {
  std::vector<std::string> merged;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const bool replaced = std::any_of(extra.begin(), extra.end(), [&](const std::string& other) {
      return variable_name(other) == variable_name(*entry);
    });
    if (!replaced) merged.emplace_back(*entry);
  }
  merged.insert(merged.end(), extra.begin(), extra.end());
  return merged;
}

/// Attributes and file actions of posix_spawn, released when this goes.
struct SpawnSettings {
  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_t actions{};

  SpawnSettings(int input, int output, int errors, const std::string& working_folder) {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);  // the child's own
    sigset_t set;
    sigfillset(&set);  // ignored signals are inherited: an interpreter ignores SIGPIPE
    posix_spawnattr_setsigdefault(&attributes, &set);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attributes, &set);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    if (!working_folder.empty()) {
      posix_spawn_file_actions_addchdir_np(&actions, working_folder.c_str());
    }
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    // Files that other code opened without close-on-exec.
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
#endif
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

/// A running child and its group; killed and reaped when this goes, unless reaped before.
class Child {
 public:
  Child(std::vector<std::string> argv, std::vector<std::string> environment,
        const SpawnSettings& settings)
      : program_(argv[0]) {
    const std::vector<char*> words = pointers_to(argv);
    const std::vector<char*> variables = pointers_to(environment);
    const int error = posix_spawnp(&pid_, words[0], &settings.actions, &settings.attributes,
                                   words.data(), variables.data());
    if (error != 0) {
      throw_error(
          ErrorKind::kRuntime,
          fmt::format("subprocess: cannot start {}: {}\n"
                      "  hint: it has to be an executable file{}",
                      program_, std::strerror(error),
                      program_.find('/') == std::string::npos ? " in a folder of PATH" : ""));
    }
#ifdef SYS_pidfd_open
    ended_ = File(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
#endif
  }
  ~Child() {
    if (pid_ <= 0) return;
    kill_group();
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t group() const { return pid_; }

  /// Readable once the child has ended; -1 where the kernel has no such thing.
  int end_descriptor() const { return ended_.get(); }

  /// The child stays a zombie, so that its number, and its group's, are nobody else's.
  bool has_ended() {
    siginfo_t info{};
    const int result = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    if (result != 0 && errno != EINTR) {
      pid_ = -1;  // somebody reaped it: the number may be another's by now
      fail(program_, "its exit status is lost", errno);
    }
    return result == 0 && info.si_pid != 0;
  }

  void kill_group() const { kill(-pid_, SIGKILL); }

  void reap(Result& result) {
    int status = 0;
    pid_t reaped = 0;
    do {
      reaped = waitpid(pid_, &status, 0);
    } while (reaped < 0 && errno == EINTR);
    const int error = errno;
    pid_ = -1;
    if (reaped < 0) fail(program_, "its exit status is lost", error);
    if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  }

 private:
  std::string program_;
  pid_t pid_ = -1;
  File ended_;
};

void check_words(std::string_view program, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    EK_CHECK(word.find('\0') == std::string::npos, ErrorKind::kValue,
             fmt::format("subprocess: {}: expected arguments and variables without NUL, got \"{}\"",
                         program, word.substr(0, word.find('\0')) + "\\0..."));
  }
}

/// Collects output until the child ends or reaches a limit. Sets a watch over one that takes long.
void attend(Child& child, Pipe& output, Pipe& errors, const Options& options, Result& result,
            std::optional<DeathWatch>& watch) {
  const auto limit = std::min(options.time_limit.value_or(kLongestLimit), kLongestLimit);
  const Clock::time_point start = Clock::now();
  const Clock::time_point deadline = start + limit;
  // A turn's worth: a child that writes faster than we read must not hide the deadline.
  constexpr std::size_t kTurnBytes = std::size_t{1} << 20;
  while (!child.has_ended()) {
    const Clock::duration left = deadline - Clock::now();
    result.timed_out = left <= Clock::duration::zero();
    result.over_output = result.output.size() + result.errors.size() > options.output_limit;
    if (result.timed_out || result.over_output) return;
    milliseconds wait = std::chrono::ceil<milliseconds>(left);
    if (child.end_descriptor() < 0) wait = std::min(wait, kLookInterval);
    if (!watch && Clock::now() - start >= kUnwatched) watch.emplace(child.group());
    if (!watch) wait = std::min(wait, kUnwatched);
    wait = std::min<milliseconds>(wait, std::chrono::hours(1));  // poll takes an int
    pollfd files[3] = {{output.read.get(), POLLIN, 0},
                       {errors.read.get(), POLLIN, 0},
                       {child.end_descriptor(), POLLIN, 0}};
    if (poll(files, 3, static_cast<int>(wait.count())) < 0 && errno != EINTR) {
      throw_error(ErrorKind::kRuntime, fmt::format("subprocess: poll: {}", std::strerror(errno)));
    }
    output.take(result.output, kTurnBytes);
    errors.take(result.errors, kTurnBytes);
  }
}

}  // namespace

Result run(const std::vector<std::string>& argv, const Options& options) {
  EK_ICHECK(!argv.empty() && !argv[0].empty(), "subprocess: a run without a program");
  const std::string& program = argv[0];
  check_words(program, argv);
  check_words(program, options.environment);
  File input = make_input(program, options.input);
  Pipe output(program);
  Pipe errors(program);
  Child child(
      argv, merge_environment(options.environment),
      SpawnSettings(input.get(), output.write.get(), errors.write.get(), options.working_folder));
  input.close();
  output.write.close();  // or we would never see the streams' ends
  errors.write.close();

  Result result;
  std::optional<DeathWatch> watch;  // goes before the child, whose number it knows, is reaped
  attend(child, output, errors, options, result, watch);
  child.kill_group();
  watch.reset();
  child.reap(result);
  output.drain(result.output);
  errors.drain(result.errors);
  return result;
}

std::string describe(const Result& result, const Options& options) {
  if (result.timed_out && options.time_limit) {
    return fmt::format("ended after the limit of {} ms", options.time_limit->count());
  }
  if (result.timed_out) return "ended after the time limit";
  if (result.over_output) {
    return fmt::format("ended after writing more than {} bytes", options.output_limit);
  }
  if (result.signal != 0) {
    const char* name = strsignal(result.signal);  // NOLINT(concurrency-mt-unsafe): per thread
    return fmt::format("signal {} ({})", result.signal, name != nullptr ? name : "unknown");
  }
  return fmt::format("exit status {}", result.exit_status);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

bool is_program(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> find_program(std::string_view name, std::string_view path) {
  if (name.empty() || name.find('/') != std::string_view::npos) return std::nullopt;
  for (const std::string& folder : split_list(path)) {
    std::string file = fmt::format("{}/{}", folder, name);
    if (is_program(file)) return file;
  }
  return std::nullopt;
}

std::optional<std::string> find_program(std::string_view name) {
  return find_program(name, environment("PATH"));
}

}  // namespace einkorn::subprocess
