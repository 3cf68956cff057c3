#include "src/jit/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/clean_spawn.h"
#include "src/core/subprocess.h"

extern "C" char** environ;

namespace einkorn::jit {
namespace {

[[noreturn]] void fail(std::string_view what, int error) {
  throw_error(ErrorKind::kRuntime,
              fmt::format("jit: compile worker: {}: {}", what, std::strerror(error)));
}

std::vector<std::string> merged_environment(const std::vector<std::string>& extra) {
  const auto name_of = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  std::vector<std::string> out = extra;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::none_of(extra.begin(), extra.end(),
                     [&](const std::string& other) { return name_of(other) == name_of(*entry); })) {
      out.emplace_back(*entry);
    }
  }
  return out;
}

/// Closed when this goes.
struct Descriptor {
  int file = -1;

  Descriptor() = default;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (file >= 0) close(file);
  }

  /// Above the standard files, or the redirections of the child would overwrite each other.
  void move_up() {
    const int moved = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (moved < 0) fail("cannot duplicate a socket", errno);
    close(std::exchange(file, moved));
  }
};

pid_t start(const WorkerSpec& spec, int socket) {
  std::vector<std::string> variables = merged_environment(spec.environment);
  const std::vector<char*> environment = subprocess::pointers_to(variables);
  std::string program = spec.executable;
  char* argv[] = {program.data(), nullptr};
  subprocess::CleanSpawn spawn(socket);
  posix_spawn_file_actions_adddup2(spawn.actions(), STDERR_FILENO, STDOUT_FILENO);
  pid_t pid = -1;
  const int error = spawn.start(&pid, program.c_str(), argv, environment.data());
  if (error != 0) {
    throw_error(ErrorKind::kRuntime,
                fmt::format("jit: compile worker: cannot start {}: {}\n"
                            "  hint: where no process can be started, EINKORN_JIT_WORKERS=1 has "
                            "the kernels of a call compiled in this one",
                            spec.executable, std::strerror(error)));
  }
  return pid;
}

}  // namespace

WorkerProcess::WorkerProcess(WorkerSpec spec) : spec_(std::move(spec)) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    fail("cannot make a socket", errno);
  }
  Descriptor ours, theirs;
  ours.file = ends[0];
  theirs.file = ends[1];
  ours.move_up();
  theirs.move_up();
  pid_ = start(spec_, theirs.file);
  socket_ = std::exchange(ours.file, -1);
}

WorkerProcess::~WorkerProcess() {
  close(socket_);
  kill_and_reap();
}

void WorkerProcess::kill() const {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);  // it may have been ended before it had its group
}

void WorkerProcess::kill_and_reap() {
  if (pid_ <= 0) return;
  kill();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

bool WorkerProcess::is_alive() const {
  if (pid_ <= 0) return false;
  siginfo_t info{};
  const int result = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  return result == 0 && info.si_pid == 0;
}

WorkerProcess::End WorkerProcess::wait_for_end(int patience_ms) {
  for (int waited = 0; waited < patience_ms && is_alive(); ++waited) poll(nullptr, 0, 1);
  if (pid_ <= 0) return {0, "ended before"};
  if (is_alive()) {
    kill_and_reap();
    return {0, "answered nothing and was killed"};
  }
  int status = 0;
  pid_t reaped = -1;
  do {
    reaped = waitpid(pid_, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  ::kill(-pid_, SIGKILL);  // what it may have started
  pid_ = -1;
  if (reaped < 0) return {0, "its exit status is lost"};  // the process ignores SIGCHLD
  subprocess::Result result;
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return {result.signal, subprocess::describe(result)};
}

}  // namespace einkorn::jit
