// Many requests at once, with the real NVRTC in workers; no GPU is needed.

#include "src/jit/batch.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/jit/compiler.h"
#include "src/jit/worker_pool.h"
#include "tests/unit/file_tree.h"
#include "tests/unit/golden.h"

namespace einkorn::jit {
namespace {

using test::error_text;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// A kernel of its own for each number and test.
Request kernel(const std::string& of, int number, const std::string& body = "*p = value;") {
  return {.file = of + ".cu",
          .source = fmt::format("extern \"C\" __global__ void k(int* p, int value) {{ value += {}; "
                                "{} }}",
                                number, body),
          .instantiate = "k",
          .arch = "sm_90a"};
}

class BatchTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = nvrtc_worker_compiler().refusal({})) GTEST_SKIP() << *reason;
  }
  /// How often the compiler was started by f().
  template <class F>
  static std::uint64_t compilations(F&& f) {
    const std::uint64_t before = compile_count();
    f();
    return compile_count() - before;
  }

  const test::Variable workers_{"EINKORN_JIT_WORKERS", "2"};
};

TEST_F(BatchTest, TogetherIsOnceAndForWhoeverAsksLater) {
  const std::vector<Request> wanted = {kernel("together", 1), kernel("together", 2),
                                       kernel("together", 1), kernel("together", 3)};
  EXPECT_EQ(compilations([&] { compile_together(wanted); }), 3u);
  EXPECT_THAT(worker_pool().idle_pids(), IsEmpty());
  EXPECT_EQ(compilations([&] {
              for (const Request& one : wanted) EXPECT_FALSE(compile(one)->image.empty());
              compile_together(wanted);
            }),
            0u);
  compile_together({kernel("together", 4), kernel("together", 5)});
  EXPECT_THAT(worker_pool().idle_pids(), IsEmpty());
}

TEST_F(BatchTest, WhatIsAloneIsLeftToItsCaller) {
  EXPECT_EQ(compilations([] {
              compile_together({});
              compile_together({kernel("alone", 1), kernel("alone", 1)});
            }),
            0u);
  compile(kernel("alone", 1));
  EXPECT_EQ(compilations([] { compile_together({kernel("alone", 1), kernel("alone", 2)}); }), 0u);
  const test::Variable one_worker("EINKORN_JIT_WORKERS", "1");
  EXPECT_EQ(compilations([] { compile_together({kernel("alone", 3), kernel("alone", 4)}); }), 0u);
}

TEST_F(BatchTest, TogetherTellsTheFirstError) {
  const std::vector<Request> wanted = {kernel("error", 1), kernel("error", 2, "second;"),
                                       kernel("error", 3, "third;")};
  EXPECT_THAT(error_text([&] { compile_together(wanted); }), HasSubstr("\"second\" is undefined"));
  EXPECT_EQ(compilations([&] {
              EXPECT_FALSE(compile(wanted[0])->image.empty());
              EXPECT_THAT(error_text([&] { compile(wanted[2]); }), HasSubstr("\"third\""));
            }),
            0u);
}

TEST_F(BatchTest, TheTroubleOfAWorkerIsTold) {
  const test::Variable no_worker("EINKORN_JIT_WORKER", "/bin/true");
  EXPECT_THAT(error_text([] { compile_together({kernel("trouble", 1), kernel("trouble", 2)}); }),
              HasSubstr("the compile worker /bin/true gave no answer"));
}

TEST_F(BatchTest, WhatNvrtcRejectsGoesToNvcc) {
  if (const auto reason = nvcc_compiler().refusal({})) GTEST_SKIP() << *reason;
  Request host = kernel("host", 1);
  host.source = "#include <cstdio>\n" + host.source;
  const auto results = compile_all(std::vector{kernel("host", 2), host}, {});
  ASSERT_EQ(results.size(), 2u);
  for (const BatchResult& one : results) ASSERT_FALSE(one.error) << one.error->what();
  EXPECT_THAT(results[0].program->compiler, StartsWith("nvrtc"));
  EXPECT_THAT(results[1].program->compiler, StartsWith("nvcc"));
}

}  // namespace
}  // namespace einkorn::jit
