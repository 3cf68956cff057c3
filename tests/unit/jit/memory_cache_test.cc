#include "src/jit/memory_cache.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/golden.h"

namespace einkorn::jit {
namespace {

Outcome success() { return {std::make_shared<Artifact>(), std::nullopt}; }

TEST(MemoryCache, ConcurrentCallersBuildOnce) {
  MemoryCache cache;
  std::atomic<int> builds{0};
  std::vector<std::shared_ptr<const Artifact>> got(16);
  {
    std::vector<std::jthread> threads;
    threads.reserve(got.size());
    for (auto& slot : got) {
      threads.emplace_back([&] {
        slot = cache.get("k", [&] {
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
    return {nullptr, Error(ErrorKind::kRuntime, "does not compile")};
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(test::error_text([&] { cache.get("k", build); }), "RuntimeError: does not compile");
  }
  EXPECT_EQ(builds, 1);
}

TEST(MemoryCache, TroubleOfTheMomentIsNotRemembered) {
  MemoryCache cache;
  EXPECT_THROW(cache.get("k", []() -> Outcome { throw Error(ErrorKind::kRuntime, "no memory"); }),
               Error);
  EXPECT_NE(cache.get("k", success), nullptr);
}

TEST(ExactKey, DiffersWithEveryInput) {
  const CompileInputs base{"nvrtc 13.0", "sm_90a", {"-a", "b"}, "f.cu", "source", {"k"}, {}};
  std::vector<CompileInputs> variants(8, base);
  variants[1].compiler = "nvrtc 13.1";
  variants[2].arch = "sm_80";
  variants[3].options = {"-ab"};
  variants[4].options = {"-a"};
  variants[4].entries = {"b", "k"};  // the same texts in the same order, otherwise divided
  variants[5].file = "g.cu";
  variants[6].source = "source ";
  variants[7].entries = {"k", "k"};
  for (std::size_t i = 0; i < variants.size(); ++i) {
    for (std::size_t j = 0; j < variants.size(); ++j) {
      EXPECT_EQ(exact_key(variants[i]) == exact_key(variants[j]), i == j) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace einkorn::jit
