#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace einkorn::jit {

struct WorkerSpec {
  std::string executable;
  /// "NAME=value", added to this process's environment or in place of what it has.
  std::vector<std::string> environment;

  bool operator==(const WorkerSpec&) const = default;
};

/// A process that is talked to through a socket, which is its standard input; its standard output
/// goes to our standard error. Killed and reaped when this goes. It has a process group of its own,
/// default signal handling and no other file of ours.
class WorkerProcess {
 public:
  /// RuntimeError: no such program, or the system is out of processes or files.
  explicit WorkerProcess(WorkerSpec spec);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  const WorkerSpec& spec() const { return spec_; }
  int socket() const { return socket_; }
  pid_t pid() const { return pid_; }

  /// False once it has ended.
  bool is_alive() const;

  /// Tells it to end, at once; who destroys it waits until it has.
  void kill() const;

  /// How it ended; waits for that, and kills it when `patience_ms` have passed.
  struct End {
    int signal = 0;    ///< 0 for an exit
    std::string text;  ///< "signal 11 (Segmentation fault)", "exit status 127"
  };
  End wait_for_end(int patience_ms);

 private:
  void kill_and_reap();

  WorkerSpec spec_;
  int socket_ = -1;
  pid_t pid_ = -1;
};

}  // namespace einkorn::jit
