#include "src/jit/batch.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "src/jit/compiler.h"
#include "src/jit/program_answer.h"
#include "src/jit/worker_pool.h"

namespace einkorn::jit {
namespace {

/// Threads of one process would only wait for one another.
bool goes_to_a_worker(const Request& request) {
  return request.compiler.empty() && request.target == Target::kCuda;
}

BatchResult compile_one(const Request& request, Beside beside) {
  BatchResult result;
  try {
    const std::optional<Program> known = compiled_before(request);
    result.program = known ? *known : compile_now(request, beside, &result.trace);
  } catch (const Error& error) {
    result.error = error;
  }
  return result;
}

/// A guess at what a compilation costs beside the others: the sizes that its template arguments
/// name, since those are what loops are unrolled by. Octaves; only the order counts.
double cost_guess(const Request& request) {
  double octaves = 0;
  for (const std::string& expression : request.instantiate) {
    const char* const end = expression.data() + expression.size();
    for (const char* at = expression.data(); at < end;) {
      std::uint32_t number = 0;
      const auto [stop, error] = std::from_chars(at, end, number);
      if (error == std::errc()) octaves += std::log2(1.0 + number);
      at = stop == at ? at + 1 : stop;
    }
  }
  return octaves;
}

/// The longest first, so that no long one is left over at the end with all other workers idle.
std::vector<std::size_t> longest_first(std::span<const Request> requests) {
  std::vector<double> costs;
  costs.reserve(requests.size());
  for (const Request& request : requests) costs.push_back(cost_guess(request));
  std::vector<std::size_t> order(requests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return costs[i]; });
  return order;
}

}  // namespace

std::vector<BatchResult> compile_all(
    std::span<const Request> requests,
    const std::function<void(std::size_t index, const BatchResult&)>& done) {
  std::vector<BatchResult> results(requests.size());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr trouble;
  const std::vector<std::size_t> order = longest_first(requests);
  const Beside beside = requests.size() > 1 ? Beside::kOthers : Beside::kNothing;
  const auto work = [&] {
    for (std::size_t at = next++; at < order.size(); at = next++) {
      const std::size_t i = order[at];
      try {
        results[i] = compile_one(requests[i], beside);
        const std::lock_guard lock(mutex);
        if (done && !trouble) done(i, results[i]);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!trouble) trouble = std::current_exception();
        next = order.size();
      }
    }
  };
  {
    // Reading sources and publishing are this process's: with two threads for each worker, one
    // publishes while the other's source is compiled. Other compilers are as many as the threads.
    const bool all = !nvrtc_worker_compiler().refusal(CompileInputs{}) &&
                     std::ranges::all_of(requests, goes_to_a_worker);
    const std::size_t count = std::min(requests.size(), (all ? 2 : 1) * worker_limit());
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
    work();
  }
  if (trouble) std::rethrow_exception(trouble);
  return results;
}

void compile_together(std::vector<Request> requests) {
  std::vector<Request> missing;
  for (Request& one : requests) {
    if (compiled_before(one) || std::ranges::find(missing, one) != missing.end()) continue;
    missing.push_back(std::move(one));
  }
  if (missing.size() < 2 || worker_limit() < 2) return;
  const std::vector<BatchResult> results = compile_all(missing, {});
  worker_pool().end_idle();
  for (const BatchResult& one : results) {
    if (one.error) throw Error(*one.error);
  }
}

}  // namespace einkorn::jit
