#include "src/jit/worker_pool.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/environment.h"
#include "src/jit/failure.h"
#include "src/jit/time_limit.h"
#include "src/jit/worker_protocol.h"

namespace einkorn::jit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kLabel = "nvrtc, in a worker";  // in messages
// Milliseconds for a worker whose socket is closed to end by itself.
constexpr int kPatience = 1000;

constexpr std::size_t kMaxWorkers = 1024;

std::size_t usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0) {
    return static_cast<std::size_t>(CPU_COUNT(&set));
  }
  return std::max(1U, std::thread::hardware_concurrency());  // more CPUs than the set has room for
}

Deadline deadline_in(double seconds) {
  const double bounded = std::min(seconds, 1e8);  // within what a clock counts
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(bounded));
}

[[noreturn]] void throw_ended(WorkerProcess& worker, const CompileInputs& inputs) {
  const WorkerProcess::End end = worker.wait_for_end(kPatience);
  if (end.signal != 0) throw_crash(inputs, kLabel, end.text);
  throw_error(ErrorKind::kRuntime,
              fmt::format("jit: {}: the compile worker {} gave no answer: {}{}\n"
                          "  hint: it has to be the einkorn_jit_worker of this build",
                          shown_name(inputs), worker.spec().executable, end.text,
                          shown_context(inputs, kLabel)));
}

}  // namespace

/// A worker while it works: goes back to the pool, or away when it did not answer.
class WorkerPool::Lease {
 public:
  Lease(WorkerPool& pool, const WorkerSpec& spec) : pool_(pool), worker_(pool.acquire(spec)) {}
  ~Lease() {
    if (!answered_) worker_.reset();  // before its place is free
    pool_.release(std::move(worker_));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  Reply ask(const CompileInputs& inputs, double time_limit) {
    const Deadline deadline = deadline_in(time_limit);
    Message message = encode_request(inputs);
    Talk talk = send_message(worker_->socket(), message, deadline);
    if (talk == Talk::kDone) talk = receive_message(worker_->socket(), message, deadline);
    if (talk == Talk::kTimedOut) throw_time_limit(inputs, kLabel, time_limit);
    if (talk == Talk::kClosed) throw_ended(*worker_, inputs);
    std::optional<Reply> reply = decode_reply(message);
    if (!reply) throw_ended(*worker_, inputs);
    answered_ = true;
    return *std::move(reply);
  }

 private:
  WorkerPool& pool_;
  std::unique_ptr<WorkerProcess> worker_;
  bool answered_ = false;
};

Outcome WorkerPool::compile(const WorkerSpec& spec, const CompileInputs& inputs,
                            double time_limit) {
  Reply reply = Lease(*this, spec).ask(inputs, time_limit);
  if (reply.thrown) throw_error(reply.thrown->kind(), reply.thrown->what());
  return std::move(reply.outcome);
}

std::unique_ptr<WorkerProcess> WorkerPool::acquire(const WorkerSpec& spec) {
  std::unique_ptr<WorkerProcess> found;
  {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return !idle_.empty() || live_ < limit_; });
    // The last to come is the first to go: its caches are warm.
    const auto fits = std::find_if(idle_.rbegin(), idle_.rend(),
                                   [&](const auto& worker) { return worker->spec() == spec; });
    if (fits != idle_.rend()) {
      found = std::move(*fits);
      idle_.erase(std::next(fits).base());
    } else if (live_ == limit_) {
      found = std::move(idle_.back());
      idle_.pop_back();
    } else {
      ++live_;
    }
  }
  if (found != nullptr && found->spec() == spec && found->is_alive()) return found;
  found.reset();
  try {
    return std::make_unique<WorkerProcess>(spec);
  } catch (...) {
    release(nullptr);
    throw;
  }
}

void WorkerPool::release(std::unique_ptr<WorkerProcess> worker) {
  {
    const std::lock_guard lock(mutex_);
    if (worker != nullptr) {
      idle_.push_back(std::move(worker));
    } else {
      --live_;
    }
  }
  freed_.notify_one();
}

void WorkerPool::end_idle() {
  std::vector<std::unique_ptr<WorkerProcess>> ended;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(idle_);
  }
  // Told first and waited for then: each takes milliseconds to give its memory back.
  for (const auto& worker : ended) worker->kill();
  const std::size_t count = ended.size();
  ended.clear();
  {
    const std::lock_guard lock(mutex_);
    live_ -= count;
  }
  freed_.notify_all();
}

std::vector<pid_t> WorkerPool::idle_pids() const {
  const std::lock_guard lock(mutex_);
  std::vector<pid_t> out;
  out.reserve(idle_.size());
  for (const auto& worker : idle_) out.push_back(worker->pid());
  return out;
}

std::size_t worker_limit() {
  const std::string text = environment("EINKORN_JIT_WORKERS");
  if (text.empty()) return usable_cpus();
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  EK_CHECK(error == std::errc() && end == text.data() + text.size() && number >= 1 &&
               number <= kMaxWorkers,
           ErrorKind::kValue,
           fmt::format("EINKORN_JIT_WORKERS: expected a number from 1 to {}, got \"{}\"",
                       kMaxWorkers, text));
  return number;
}

WorkerPool& worker_pool() {
  struct Owned {
    pid_t owner;
    WorkerPool pool;
  };
  // After fork() the old pool is left as it is: its lock may be held by a thread that is not here.
  static std::atomic<Owned*> current{nullptr};
  Owned* known = current.load(std::memory_order_acquire);
  if (known != nullptr && known->owner == getpid()) return known->pool;
  auto* fresh = new Owned{getpid(), WorkerPool(worker_limit())};
  while (!current.compare_exchange_weak(known, fresh, std::memory_order_acq_rel)) {
    if (known == nullptr || known->owner != getpid()) continue;
    delete fresh;  // another thread was first
    return known->pool;
  }
  return fresh->pool;
}

}  // namespace einkorn::jit
