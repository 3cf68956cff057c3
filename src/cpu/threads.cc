#include "src/cpu/threads.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

namespace einkorn::cpu {
namespace {

constexpr int kMaxThreads = 1024;

int read_thread_count() {
  const char* text = std::getenv("EINKORN_NUM_THREADS");  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr || *text == '\0') return tbb::info::default_concurrency();
  return parse_thread_count(text);
}

tbb::task_arena& arena() {
  // Never destroyed: threads may still be leaving it when static objects go.
  static auto* const kArena = new tbb::task_arena(thread_count());
  return *kArena;
}

struct AlignedDelete {
  void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t{128}); }
};

}  // namespace

int parse_thread_count(std::string_view text) {
  int count = 0;
  const char* start = text.data();
  const char* stop = start + text.size();
  const auto [end, error] = std::from_chars(start, stop, count);
  EK_CHECK(error == std::errc{} && end == stop && count >= 1 && count <= kMaxThreads,
           ErrorKind::kValue,
           fmt::format("EINKORN_NUM_THREADS: expected a whole number from 1 to {}, got '{}'\n"
                       "  hint: unset it to use all hardware threads of this process",
                       kMaxThreads, text));
  return count;
}

int thread_count() {
  static const int kCount = read_thread_count();
  return kCount;
}

void detail::parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, void* context,
                          void (*body)(void*, std::int64_t, std::int64_t)) {
  if (begin >= end) return;
  const std::int64_t threads = thread_count();
  grain = std::max<std::int64_t>(grain, 1);
  if (threads == 1 || end - begin <= grain) return body(context, begin, end);
  // Whole stretches for each thread, a few more than threads so that a late one is helped out.
  // Fixed cuts: memory then is touched in the same order run after run.
  constexpr std::int64_t kStretchesPerThread = 4;
  const std::int64_t stretch = std::max(
      grain, (end - begin + threads * kStretchesPerThread - 1) / (threads * kStretchesPerThread));
  const std::int64_t stretches = (end - begin + stretch - 1) / stretch;
  arena().execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::int64_t>(0, stretches, 1),
        [&](const tbb::blocked_range<std::int64_t>& range) {
          const std::int64_t first = begin + range.begin() * stretch;
          body(context, first, std::min(end, begin + range.end() * stretch));
        },
        tbb::simple_partitioner{});
  });
}

void* thread_scratch(std::size_t bytes) {
  thread_local std::unique_ptr<std::byte, AlignedDelete> memory;
  thread_local std::size_t size = 0;
  if (size < bytes) {
    memory.reset();
    size = 0;
    memory.reset(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{128})));
    size = bytes;
  }
  return memory.get();
}

}  // namespace einkorn::cpu
