#pragma once

// Compile workers: NVRTC does one compilation at a time in a process, cannot be stopped, and takes
// its process along when it crashes.

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/jit/compiler.h"
#include "src/jit/worker_process.h"

namespace einkorn::jit {

/// At most `limit` workers, started when there is work and kept for more of it. Thread-safe.
class WorkerPool {
 public:
  explicit WorkerPool(std::size_t limit) : limit_(limit) {}
  /// Ends the workers. No compile() may be running.
  ~WorkerPool() = default;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Waits for a free worker, then for its answer, at most `time_limit` seconds; idle workers of
  /// another spec make room. RuntimeError: the worker crashed or was ended at the limit (the pool
  /// goes on with others), it cannot be started; and what the compiler threw.
  Outcome compile(const WorkerSpec& spec, const CompileInputs& inputs, double time_limit);

  /// Ends those that are idle; later work starts others.
  void end_idle();

  std::size_t limit() const { return limit_; }
  /// Of those that are idle.
  std::vector<pid_t> idle_pids() const;

 private:
  class Lease;

  std::unique_ptr<WorkerProcess> acquire(const WorkerSpec& spec);
  void release(std::unique_ptr<WorkerProcess> worker);

  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::size_t live_ = 0;  // idle and busy
  std::vector<std::unique_ptr<WorkerProcess>> idle_;
};

/// EINKORN_JIT_WORKERS, else the CPUs that this process may use. ValueError: the variable is no
/// number from 1 to 1024.
std::size_t worker_limit();

/// The pool of this process, never destroyed; in a child made by fork() a new one, because the
/// workers are the parent's.
WorkerPool& worker_pool();

}  // namespace einkorn::jit
