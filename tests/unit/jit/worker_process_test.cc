#include "src/jit/worker_process.h"

#include <unistd.h>

#include <csignal>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/jit/compiler_tests.h"

namespace einkorn::jit {
namespace {

using test::FileTree;
using test::Variable;

TEST(WorkerProcess, EnvironmentAndStandardFiles) {
  const FileTree files;
  const std::string worker = files.write_script(
      "worker",
      fmt::format("echo \"$EINKORN_NVRTC\" > {0}\nls /proc/self/fd | wc -l >> {0}\nexit 1\n",
                  files.path("out")));
  const Variable other("EINKORN_NVRTC", "/nowhere");
  WorkerProcess process({worker, {"EINKORN_NVRTC=/given"}});
  EXPECT_EQ(process.wait_for_end(20'000).text, "exit status 1");
  EXPECT_FALSE(process.is_alive());
  std::ifstream out(files.path("out"));
  std::string variable;
  int count = 0;
  out >> variable >> count;
  EXPECT_EQ(variable, "/given");
  EXPECT_EQ(count, 4);  // the three, and ls's own of the folder
}

TEST(WorkerProcess, ItsInputIsASocketToUs) {
  const FileTree files;
  WorkerProcess process(
      {files.write_script("worker", "read word\nprintf \"$word$word\" >&0\n"), {}});
  EXPECT_TRUE(process.is_alive());
  ASSERT_EQ(write(process.socket(), "ab\n", 3), 3);
  char answer[5] = {};
  ASSERT_EQ(read(process.socket(), answer, 4), 4);
  EXPECT_STREQ(answer, "abab");
  EXPECT_EQ(process.wait_for_end(20'000).text, "exit status 0");
}

TEST(WorkerProcess, HowItEnded) {
  const FileTree files;
  WorkerProcess crashed({files.write_script("crash", "kill -SEGV $$\n"), {}});
  const WorkerProcess::End end = crashed.wait_for_end(20'000);
  EXPECT_EQ(end.signal, SIGSEGV);
  EXPECT_EQ(end.text, "signal 11 (Segmentation fault)");
  EXPECT_EQ(crashed.wait_for_end(0).text, "ended before");
  WorkerProcess hanging({files.write_script("hang", "sleep 1000\n"), {}});
  EXPECT_EQ(hanging.wait_for_end(10).text, "answered nothing and was killed");
  EXPECT_EQ(hanging.pid(), -1);  // reaped
}

}  // namespace
}  // namespace einkorn::jit
