#include "src/measure/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/core/subprocess.h"

extern "C" char** environ;

namespace einkorn::measure {
namespace {

/// The last lines of a file, at most about 600 bytes.
std::string tail(int file) {
  struct stat status{};
  if (file < 0 || fstat(file, &status) != 0) return {};
  std::string text(static_cast<std::size_t>(std::min<off_t>(status.st_size, 600)), '\0');
  const ssize_t got =
      pread(file, text.data(), text.size(), status.st_size - static_cast<off_t>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& argv) {
  EK_ICHECK(!argv.empty(), "a child process without a command");
  name_ = argv[0];
  int ends[2];
  // A socket rather than pipes: writing to a child that is gone is then an error, not SIGPIPE.
  EK_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, ErrorKind::kRuntime,
           fmt::format("{}: cannot make a socket: {}", name_, std::strerror(errno)));
  socket_ = ends[0];
  errors_ = memfd_create("child-errors", MFD_CLOEXEC);
  std::vector<std::string> words = argv;
  const std::vector<char*> pointers = subprocess::pointers_to(words);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (errors_ >= 0) posix_spawn_file_actions_adddup2(&actions, errors_, STDERR_FILENO);
  const int result = posix_spawnp(&pid_, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (result == 0) return;
  close(socket_);
  if (errors_ >= 0) close(errors_);
  throw_error(ErrorKind::kRuntime,
              fmt::format("cannot start '{}': {}", fmt::join(argv, " "), std::strerror(result)));
}

ChildProcess::~ChildProcess() {
  close(socket_);
  if (errors_ >= 0) close(errors_);
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string ChildProcess::report(const std::string& what) const {
  const std::string said = tail(errors_);
  return fmt::format("{}: {}{}{}", name_, what, said.empty() ? "" : "; its last words: ", said);
}

void ChildProcess::fail(const std::string& what) const {
  throw_error(ErrorKind::kRuntime, report(what));
}

/// " (signal 11, Segmentation fault)"; empty when it has not ended within a second.
std::string ChildProcess::how_it_ended() {
  if (pid_ < 0) return {};
  int status = 0;
  for (int wait = 0; wait < 100; ++wait) {
    const pid_t got = waitpid(pid_, &status, WNOHANG);
    if (got == pid_) {
      pid_ = -1;  // reaped: the number may be another process' now
      if (WIFSIGNALED(status)) {
        return fmt::format(" (signal {}, {})", WTERMSIG(status), strsignal(WTERMSIG(status)));
      }
      return fmt::format(" (exit status {})", WEXITSTATUS(status));
    }
    if (got < 0 && errno != EINTR) return {};
    usleep(10000);
  }
  return {};
}

void ChildProcess::write_line(const std::string& line) {
  const std::string text = line + '\n';
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t count = send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const std::string why = std::strerror(errno);
      fail(fmt::format("cannot be written to: {}{}", why, how_it_ended()));
    }
    sent += static_cast<std::size_t>(count);
  }
}

std::string ChildProcess::read_line(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      throw NoAnswer(ErrorKind::kRuntime,
                     report(fmt::format("no answer in {} ms", timeout.count())));
    }
    pollfd waiting{socket_, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) fail(fmt::format("poll: {}", std::strerror(errno)));
    if (ready <= 0) continue;
    char buffer[4096];
    const ssize_t count = recv(socket_, buffer, sizeof(buffer), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("ended without an answer" + how_it_ended());
    pending_.append(buffer, static_cast<std::size_t>(count));
  }
}

}  // namespace einkorn::measure
