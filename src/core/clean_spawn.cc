#include "src/core/clean_spawn.h"

#include <unistd.h>

#include <csignal>

namespace einkorn::subprocess {

CleanSpawn::CleanSpawn(int input) {
  posix_spawnattr_init(&attributes_);
  posix_spawn_file_actions_init(&actions_);
  posix_spawnattr_setflags(&attributes_,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes_, 0);
  sigset_t set;
  sigfillset(&set);
  posix_spawnattr_setsigdefault(&attributes_, &set);
  sigemptyset(&set);
  posix_spawnattr_setsigmask(&attributes_, &set);
  posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  // Files that other code opened without close-on-exec.
  posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
#endif
}

CleanSpawn::~CleanSpawn() {
  posix_spawn_file_actions_destroy(&actions_);
  posix_spawnattr_destroy(&attributes_);
}

int CleanSpawn::start(pid_t* pid, const char* program, char* const* argv,
                      char* const* environment) const {
  return posix_spawn(pid, program, &actions_, &attributes_, argv, environment);
}

}  // namespace einkorn::subprocess
