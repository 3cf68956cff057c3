#include "src/jit/memory_cache.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/golden.h"

namespace einkorn::jit {
namespace {

const Digest kKey{};

Outcome success() { return {.artifact = std::make_shared<Artifact>()}; }

TEST(MemoryCache, ConcurrentCallersBuildOnce) {
  MemoryCache cache;
  std::atomic<int> builds{0};
  std::vector<std::shared_ptr<const Artifact>> got(16);
  {
    std::vector<std::jthread> threads;
    threads.reserve(got.size());
    for (auto& slot : got) {
      threads.emplace_back([&] {
        slot = cache.get(kKey, [&] {
          builds++;
          return success();
        });
      });
    }
  }
  EXPECT_EQ(builds, 1);
  for (const auto& artifact : got) EXPECT_EQ(artifact, got[0]);
}

TEST(MemoryCache, AFailureIsRemembered) {
  MemoryCache cache;
  int builds = 0;
  const auto build = [&]() -> Outcome {
    ++builds;
    return {.failure = Error(ErrorKind::kRuntime, "does not compile")};
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(test::error_text([&] { cache.get(kKey, build); }), "RuntimeError: does not compile");
  }
  EXPECT_EQ(builds, 1);
}

TEST(MemoryCache, TroubleOfTheMomentIsNotRemembered) {
  MemoryCache cache;
  EXPECT_THROW(cache.get(kKey, []() -> Outcome { throw Error(ErrorKind::kRuntime, "no memory"); }),
               Error);
  EXPECT_NE(cache.get(kKey, success), nullptr);
}

}  // namespace
}  // namespace einkorn::jit
