#include "src/core/subprocess.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/file_tree.h"
#include "tests/unit/golden.h"

namespace einkorn::subprocess {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

constexpr std::size_t kTenMegabytes = 10'000'000;

pid_t first_number(const std::string& text) {
  return static_cast<pid_t>(std::strtol(text.c_str(), nullptr, 10));
}

/// Gone, or a zombie that the machine's init has not collected yet.
bool is_dead(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return true;
  const std::size_t after_name = text.rfind(')');
  return after_name != std::string::npos &&
         (text[after_name + 2] == 'Z' || text[after_name + 2] == 'X');
}

bool dies_soon(pid_t pid) {
  for (int i = 0; i < 2000 && !is_dead(pid); ++i) std::this_thread::sleep_for(milliseconds(1));
  return is_dead(pid);
}

std::size_t open_files() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST(Subprocess, OutputErrorsAndStatus) {
  const Result result = run(shell("printf out; printf err >&2; exit 3"));
  EXPECT_EQ(result.output, "out");
  EXPECT_EQ(result.errors, "err");
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_EQ(result.signal, 0);
  EXPECT_FALSE(result.timed_out);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(describe(result), "exit status 3");
  EXPECT_TRUE(run({"true"}).ok());
}

TEST(Subprocess, ArgumentsArriveAsTheyAre) {
  const std::vector<std::string> words = {"", "a b", "$HOME", "*", "it's", "\"", "\\n", "ä", "--"};
  std::vector<std::string> argv = {"/bin/sh", "-c", "printf '%s|' \"$@\"", "name"};
  argv.insert(argv.end(), words.begin(), words.end());
  std::string expected;
  for (const std::string& word : words) expected += word + "|";
  EXPECT_EQ(run(argv).output, expected);
}

TEST(Subprocess, TenMegabytesOnBothStreams) {
  const Result result = run(shell(
      "head -c 10000000 /dev/zero | tr '\\0' e >&2 & head -c 10000000 /dev/zero | tr '\\0' o; "
      "wait"));
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.output.size(), kTenMegabytes);
  EXPECT_EQ(result.errors.size(), kTenMegabytes);
  EXPECT_EQ(result.output.find_first_not_of('o'), std::string::npos);
  EXPECT_EQ(result.errors.find_first_not_of('e'), std::string::npos);
}

TEST(Subprocess, InputArrivesWhole) {
  std::string input;
  input.resize(kTenMegabytes);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<char>(i * 131 >> 3);
  EXPECT_TRUE(run({"cat"}, {.input = input}).output == input);
  EXPECT_EQ(run({"cat"}).output, "");
  EXPECT_EQ(run({"cat", "/dev/stdin"}, {.input = "by name"}).output, "by name");
}

TEST(Subprocess, InputThatNobodyReadsIsNoError) {
  EXPECT_TRUE(run({"true"}, {.input = std::string(1'000'000, 'x')}).ok());
}

TEST(Subprocess, TimeLimitKillsTheWholeGroup) {
  // On a busy machine it takes a while until something was said.
  const Options options{.time_limit = milliseconds(2000)};
  const auto start = steady_clock::now();
  const Result result = run(shell("sleep 1000 & echo $!; echo said >&2; wait"), options);
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.exit_status, -1);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_EQ(result.errors, "said\n");
  EXPECT_EQ(describe(result, options), "ended after the limit of 2000 ms");
  const pid_t grandchild = first_number(result.output);
  ASSERT_GT(grandchild, 0) << result.output;
  EXPECT_TRUE(dies_soon(grandchild));
}

TEST(Subprocess, TimeLimitHoldsForAProgramThatWritesAllTheTime) {
  const Result result = run(shell("while :; do echo x; done"), {.time_limit = milliseconds(1000)});
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.over_output);
  EXPECT_GT(result.output.size(), 0u);
}

TEST(Subprocess, TimeLimitHoldsForAProgramThatIgnoresSignals) {
  const Result result =
      run(shell("trap '' TERM INT HUP; sleep 1000; sleep 1000"), {.time_limit = milliseconds(50)});
  EXPECT_TRUE(result.timed_out);
}

TEST(Subprocess, AProgramMayCloseItsStreamsAndGoOn) {
  const Result result = run(shell("exec >&- 2>&-; sleep 0.1; exit 7"));
  EXPECT_EQ(result.exit_status, 7);
}

TEST(Subprocess, OutputLimit) {
  const Options options{.output_limit = 100'000};
  const Result result = run({"cat", "/dev/zero"}, options);
  EXPECT_TRUE(result.over_output);
  EXPECT_FALSE(result.ok());
  EXPECT_GT(result.output.size(), 100'000u);
  EXPECT_LT(result.output.size(), 4'000'000u);
  EXPECT_EQ(describe(result, options), "ended after writing more than 100000 bytes");
}

TEST(Subprocess, WhatIsLeftOfTheGroupEndsWithTheProgram) {
  const auto start = steady_clock::now();
  const Result result = run(shell("sleep 1000 & echo $!"));
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_TRUE(result.ok());
  const pid_t left = first_number(result.output);
  ASSERT_GT(left, 0);
  EXPECT_TRUE(dies_soon(left));
}

TEST(Subprocess, ADaemonIsNotWaitedFor) {
  const auto start = steady_clock::now();
  const Result result = run(shell("setsid sleep 1000 & echo $!; sleep 0.2"));
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(20));
  const pid_t daemon = first_number(result.output);
  ASSERT_GT(daemon, 0);
  kill(daemon, SIGKILL);
}

TEST(Subprocess, DeathBySignal) {
  const Result result = run(shell("kill -SEGV $$"));
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_EQ(result.exit_status, -1);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(describe(result), "signal 11 (Segmentation fault)");
}

TEST(Subprocess, MissingProgram) {
  EXPECT_EQ(test::error_text([] { run({"einkorn-no-such-program"}); }),
            "RuntimeError: subprocess: cannot start einkorn-no-such-program: No such file or "
            "directory\n  hint: it has to be an executable file in a folder of PATH");
  EXPECT_EQ(test::error_text([] { run({"/nowhere/nvcc", "-c"}); }),
            "RuntimeError: subprocess: cannot start /nowhere/nvcc: No such file or directory\n"
            "  hint: it has to be an executable file");
  EXPECT_THAT(test::error_text([] { run({"/etc/passwd"}); }), HasSubstr("Permission denied"));
  EXPECT_THAT(test::error_text([] { run({"/tmp"}); }), HasSubstr("Permission denied"));
}

TEST(Subprocess, NulInAnArgument) {
  using std::string_literals::operator""s;
  EXPECT_EQ(test::error_text([] { run({"true", "a\0b"s}); }),
            "ValueError: subprocess: true: expected arguments and variables without NUL, got "
            "\"a\\0...\"");
  EXPECT_THAT(test::error_text([] { run({"true"}, {.environment = {"A=\0"s}}); }),
              StartsWith("ValueError: subprocess: true"));
}

TEST(Subprocess, Environment) {
  setenv("EINKORN_TEST_KEPT", "kept", 1);
  setenv("EINKORN_TEST_REPLACED", "old", 1);
  const Result result =
      run(shell("echo $EINKORN_TEST_KEPT $EINKORN_TEST_REPLACED $EINKORN_TEST_ADDED; env | grep -c "
                "EINKORN_TEST_REPLACED"),
          {.environment = {"EINKORN_TEST_REPLACED=new", "EINKORN_TEST_ADDED=a=b c"}});
  EXPECT_EQ(result.output, "kept new a=b c\n1\n");
  unsetenv("EINKORN_TEST_KEPT");
  unsetenv("EINKORN_TEST_REPLACED");
}

TEST(Subprocess, WorkingFolder) {
  EXPECT_EQ(run({"pwd"}, {.working_folder = "/"}).output, "/\n");
  EXPECT_EQ(run({"pwd"}).output, fs::current_path().string() + "\n");
  EXPECT_THAT(test::error_text([] { run({"pwd"}, {.working_folder = "/nowhere"}); }),
              HasSubstr("cannot start pwd"));
}

TEST(Subprocess, TheChildHasNoFileOfOurs) {
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int leaky = fcntl(null, F_DUPFD, 50);  // no close-on-exec, as other libraries do
  ASSERT_GE(leaky, 50);
  const std::string path = "/proc/$$/fd/" + std::to_string(leaky);
  EXPECT_EQ(run(shell("test -e " + path + "; echo $?")).output, "1\n");
  close(leaky);
  close(null);
}

TEST(Subprocess, LeavesNoFilesAndNoZombies) {
  run({"true"});
  const std::size_t before = open_files();
  // -1: no children; 0: those of other tests, none of which has ended.
  const pid_t children = waitpid(-1, nullptr, WNOHANG);
  ASSERT_LE(children, 0);
  for (int i = 0; i < 20; ++i) {
    run(shell("echo x; exit 1"), {.input = "abc"});
    EXPECT_THROW(run({"/nowhere/nvcc"}), Error);
  }
  run({"sleep", "1000"}, {.time_limit = milliseconds(10)});
  EXPECT_EQ(open_files(), before);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), children);
}

// As a compiler does that starts another one and is waited for.
TEST(Subprocess, WhatAKilledProcessWaitsForEndsWithIt) {
  const test::FileTree scratch;
  const std::string file = scratch.path("pid");
  const pid_t caller = fork();
  ASSERT_GE(caller, 0);
  if (caller == 0) {
    // From a thread that is not the first, as any may call.
    std::thread([&] {
      run(shell("sleep 300 & echo $! > " + file + ".draft; mv " + file + ".draft " + file +
                "; wait; sleep 300"));
    }).join();
    _exit(0);
  }
  while (!fs::exists(file)) std::this_thread::sleep_for(milliseconds(1));
  std::this_thread::sleep_for(milliseconds(100));  // until somebody watches
  std::string text;
  std::getline(std::ifstream(file), text);
  const pid_t inner = first_number(text);
  ASSERT_GT(inner, 0);
  EXPECT_FALSE(is_dead(inner));
  kill(caller, SIGKILL);
  ASSERT_EQ(waitpid(caller, nullptr, 0), caller);
  EXPECT_TRUE(dies_soon(inner));
}

TEST(Subprocess, NobodyIsLeftWatchingAProgramThatHasEnded) {
  const pid_t caller = fork();  // this process may have other children
  ASSERT_GE(caller, 0);
  if (caller == 0) {
    const bool ok = run(shell("sleep 0.1")).ok() && run(shell("sleep 0.1")).ok();
    const bool alone = waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD;
    _exit(ok && alone ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(caller, &status, 0), caller);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Subprocess, IgnoredAndBlockedSignalsAreNotInherited) {
  const auto old_handler = std::signal(SIGPIPE, SIG_IGN);
  sigset_t blocked, old_mask;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, &old_mask);
  EXPECT_EQ(run(shell("kill -PIPE $$; exit 5")).signal, SIGPIPE);
  EXPECT_EQ(run(shell("kill -USR1 $$; exit 5")).signal, SIGUSR1);
  pthread_sigmask(SIG_SETMASK, &old_mask, nullptr);
  std::signal(SIGPIPE, old_handler);
}

TEST(SubprocessDeathTest, ALostStatusIsAnError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::signal(SIGCHLD, SIG_IGN);
        const std::string text = test::error_text([] { run({"true"}); });
        std::exit(text.starts_with("RuntimeError: subprocess: true: its e") ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(SubprocessDeathTest, WorksInAProcessWithoutStandardFiles) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        close(0);
        close(1);
        close(2);
        const Result result = run(shell("cat; printf err >&2"), {.input = "in"});
        std::exit(result.output == "in" && result.errors == "err" ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(Subprocess, ManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(8, 0);
  threads.reserve(wrong.size());
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([t, &wrong] {
      for (int i = 0; i < 15; ++i) {
        const std::string text = std::to_string(t) + "." + std::to_string(i);
        const Result result = run(shell("cat; exit " + std::to_string(i)), {.input = text});
        if (result.output != text || result.exit_status != i) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(0));
}

TEST(FindProgram, FirstExecutableFileWins) {
  const test::FileTree tree;
  const fs::path& root = tree.root();
  for (const char* folder : {"plain", "folder/tool", "good", "later"}) {
    fs::create_directories(root / folder);
  }
  for (const char* folder : {"plain", "good", "later"})
    std::ofstream(root / folder / "tool") << "x";
  chmod((root / "good/tool").c_str(), 0755);
  chmod((root / "later/tool").c_str(), 0755);
  const std::string r = root.string();
  EXPECT_EQ(find_program("tool", ":" + r + "/none:" + r + "/plain:" + r + "/folder::" + r +
                                     "/good:" + r + "/later"),
            r + "/good/tool");
  EXPECT_EQ(find_program("tool", r + "/plain"), std::nullopt);
  EXPECT_EQ(find_program("tool", ""), std::nullopt);
  EXPECT_EQ(find_program("good/tool", r), std::nullopt);
  EXPECT_EQ(find_program("", r), std::nullopt);
  EXPECT_TRUE(find_program("sh").has_value());
}

}  // namespace
}  // namespace einkorn::subprocess
