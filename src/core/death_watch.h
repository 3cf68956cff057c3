#pragma once

#include <sys/types.h>

namespace einkorn::subprocess {

/// Has a group of processes killed when this process ends, however it ends, while this lives. A
/// shell sees to that: it waits for the end of a pipe that only we hold, and costs nothing until
/// then. (PR_SET_PDEATHSIG reaches the group's first process and none that it started.) Where no
/// shell can be started nobody watches: what is watched runs all the same.
class DeathWatch {
 public:
  explicit DeathWatch(pid_t group);
  ~DeathWatch();
  DeathWatch(const DeathWatch&) = delete;
  DeathWatch& operator=(const DeathWatch&) = delete;

 private:
  pid_t shell_ = -1;
  int pipe_ = -1;
};

}  // namespace einkorn::subprocess
