#include "src/jit/batch.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "src/jit/compiler.h"
#include "src/jit/worker_pool.h"

namespace einkorn::jit {
namespace {

/// Threads of one process would only wait for one another; the trouble of a worker is told.
bool goes_to_a_worker(const Request& request) {
  return request.compiler.empty() && request.target == Target::kCuda;
}

BatchResult compile_one(Request request, bool workers) {
  BatchResult result;
  try {
    if (workers && goes_to_a_worker(request)) request.compiler = nvrtc_worker_compiler().name();
    result.program = compile(request);
  } catch (const Error& error) {
    result.error = error;
  }
  return result;
}

}  // namespace

std::vector<BatchResult> compile_all(
    std::span<const Request> requests,
    const std::function<void(std::size_t index, const BatchResult&)>& done) {
  std::vector<BatchResult> results(requests.size());
  const bool workers = !nvrtc_worker_compiler().refusal(CompileInputs{});
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr trouble;
  const auto work = [&] {
    for (std::size_t i = next++; i < requests.size(); i = next++) {
      try {
        results[i] = compile_one(requests[i], workers);
        const std::lock_guard lock(mutex);
        if (done && !trouble) done(i, results[i]);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!trouble) trouble = std::current_exception();
        next = requests.size();
      }
    }
  };
  {
    // Reading sources and publishing are this process's: with two threads for each worker, one
    // publishes while the other's source is compiled. Other compilers are as many as the threads.
    const bool all = workers && std::ranges::all_of(requests, goes_to_a_worker);
    const std::size_t count = std::min(requests.size(), (all ? 2 : 1) * worker_limit());
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
    work();
  }
  if (trouble) std::rethrow_exception(trouble);
  return results;
}

}  // namespace einkorn::jit
