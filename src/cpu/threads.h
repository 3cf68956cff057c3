#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace einkorn::cpu {

/// Threads that parallel_for uses: EINKORN_NUM_THREADS, otherwise the hardware threads this process
/// may run on (affinity and cgroup respected). Read once. ValueError naming the variable when it is
/// not a whole number from 1 to 1024; then again on each call.
int thread_count();

/// The value of EINKORN_NUM_THREADS; errors as above.
int parse_thread_count(std::string_view text);

namespace detail {
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, void* context,
                  void (*body)(void* context, std::int64_t begin, std::int64_t end));
}

/// Calls fn(b, e) for ranges that make up [begin, end), on several threads, each range of at least
/// `grain` (positive) but for the last; returns when all are done. Up to `grain` things run on the
/// calling thread. An exception of fn's is thrown here. Which thread gets what may differ from run
/// to run; fn's result must not depend on how the range is cut.
template <class F>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, F&& fn) {
  using Fn = std::remove_reference_t<F>;
  detail::parallel_for(
      begin, end, grain, const_cast<std::remove_const_t<Fn>*>(&fn),
      [](void* context, std::int64_t b, std::int64_t e) { (*static_cast<Fn*>(context))(b, e); });
}

/// Scratch memory of the calling thread, aligned to 128 bytes, at least `bytes`; kept for the
/// thread's next call, which gets the same memory.
void* thread_scratch(std::size_t bytes);

}  // namespace einkorn::cpu
