#include "src/cpu/threads.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "src/core/float.h"
#include "tests/unit/golden.h"

namespace einkorn::cpu {
namespace {

TEST(ParallelFor, CoversTheRangeOnce) {
  for (const std::int64_t count : {0, 1, 2, 7, 100, 1000}) {
    for (const std::int64_t grain : {1, 3, 64, 5000}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      parallel_for(5, 5 + count, grain, [&](std::int64_t begin, std::int64_t end) {
        EXPECT_LT(begin, end);
        for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i - 5)];
      });
      for (const auto& one : visits) EXPECT_EQ(one, 1);
    }
  }
}

TEST(ParallelFor, SmallRangesStayOnTheCaller) {
  int calls = 0;
  parallel_for(0, 10, 10, [&](std::int64_t begin, std::int64_t end) {
    ++calls;
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 10);
  });
  EXPECT_EQ(calls, 1);
}

TEST(ParallelFor, PassesExceptionsOn) {
  EXPECT_THROW(parallel_for(0, 1000, 1,
                            [](std::int64_t begin, std::int64_t) {
                              if (begin > 0) throw std::runtime_error("no");
                            }),
               std::runtime_error);
}

TEST(ParallelFor, Nests) {
  std::atomic<int> count = 0;
  parallel_for(0, 8, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      parallel_for(0, 8, 1,
                   [&](std::int64_t b, std::int64_t e) { count += static_cast<int>(e - b); });
    }
  });
  EXPECT_EQ(count, 64);
}

TEST(ThreadScratch, IsAlignedAndKept) {
  void* first = thread_scratch(1000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 128, 0U);
  EXPECT_EQ(thread_scratch(100), first);
  EXPECT_NE(thread_scratch(1 << 20), nullptr);
}

TEST(ParseThreadCount, TakesWholeNumbers) {
  EXPECT_EQ(parse_thread_count("1"), 1);
  EXPECT_EQ(parse_thread_count("1024"), 1024);
}

TEST(ParseThreadCount, Errors) {
  test::GoldenErrors errors("errors/num_threads.txt");
  for (const char* text : {"0", "-2", "1025", "two", "2x", "1.5", "99999999999"}) {
    errors.add(text, [text] { static_cast<void>(parse_thread_count(text)); });
  }
}

}  // namespace
}  // namespace einkorn::cpu
