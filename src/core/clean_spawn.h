#pragma once

#include <spawn.h>
#include <sys/types.h>

namespace einkorn::subprocess {

/// posix_spawn of a child that has nothing of ours but `input` as its standard input and what is
/// added to actions(): default signal handling, and a process group of its own, or Ctrl-C would end
/// the child of a program that handles it.
class CleanSpawn {
 public:
  explicit CleanSpawn(int input);
  ~CleanSpawn();
  CleanSpawn(const CleanSpawn&) = delete;
  CleanSpawn& operator=(const CleanSpawn&) = delete;

  posix_spawn_file_actions_t* actions() { return &actions_; }

  /// 0, or the system's error.
  int start(pid_t* pid, const char* program, char* const* argv, char* const* environment) const;

 private:
  posix_spawnattr_t attributes_{};
  posix_spawn_file_actions_t actions_{};
};

}  // namespace einkorn::subprocess
