#include "src/core/death_watch.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include "src/core/clean_spawn.h"

extern "C" char** environ;

namespace einkorn::subprocess {
namespace {

constexpr const char* kShell = "/bin/sh";
// Nothing is ever written: the read ends with the last holder of the other end.
constexpr const char* kScript = "read -r line; kill -s KILL -- \"-$1\"";

/// The shell, with `input`. -1: it cannot be started.
pid_t start_shell(int input, pid_t group) {
  CleanSpawn spawn(input);
  posix_spawn_file_actions_addopen(spawn.actions(), STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(spawn.actions(), STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string shell = kShell, option = "-c", script = kScript, name = "einkorn-watch",
              number = std::to_string(group);
  const std::array<char*, 6> words{shell.data(), option.data(), script.data(),
                                   name.data(),  number.data(), nullptr};
  pid_t pid = -1;
  return spawn.start(&pid, kShell, words.data(), environ) == 0 ? pid : -1;
}

}  // namespace

DeathWatch::DeathWatch(pid_t group) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  // Above the standard ones, or dup2 onto itself would leave it to be closed.
  const int input = fcntl(ends[0], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(ends[0]);
  if (input >= 0) {
    shell_ = start_shell(input, group);
    close(input);
  }
  if (shell_ < 0) {
    close(ends[1]);
  } else {
    pipe_ = ends[1];
  }
}

DeathWatch::~DeathWatch() {
  if (shell_ < 0) return;
  // Before the pipe is closed, which would tell it to kill. Not when somebody else has reaped it:
  // the number may be another's by now.
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(shell_), &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
    ::kill(shell_, SIGKILL);
    while (waitpid(shell_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close(pipe_);
}

}  // namespace einkorn::subprocess
