// Waiting for another process that compiles the same.

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <stdexcept>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/warning.h"
#include "src/jit/key_lock.h"
#include "tests/unit/jit/service_fixture.h"

namespace einkorn::jit {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::Contains;

/// A process that does something for long; ended with this.
class Busy {
 public:
  explicit Busy(const std::function<void()>& work) {
    child_ = fork();
    if (child_ == 0) {
      work();
      _exit(0);
    }
  }
  ~Busy() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

  pid_t pid() const { return child_; }

 private:
  pid_t child_ = -1;
};

class LockWaitTest : public ServiceTest {
 protected:
  LockWaitTest() {
    set_warning_handler([this](const std::string& text) { warnings_.push_back(text); });
  }
  ~LockWaitTest() override { set_warning_handler({}); }

  /// A process that compiles the inputs and does not come to an end.
  std::unique_ptr<Busy> compiling_process() {
    first_.takes = seconds(60);
    auto busy = std::make_unique<Busy>([this] { make()->answer(inputs(), "", nullptr); });
    first_.takes = milliseconds(0);
    Store store(StoreOptions{.root = settings().cache_dir});
    const Digest key = key_of(key_parts(inputs(), "one 1"));
    const auto deadline = steady_clock::now() + seconds(20);
    while (KeyLock(store.lock_file(), key, milliseconds(0)).held()) {
      if (steady_clock::now() > deadline) throw std::runtime_error("it does not compile");
      usleep(1000);
    }
    return busy;
  }

  std::vector<std::string> warnings_;
};

TEST_F(LockWaitTest, NoLongerThanTheTimeLimitAndNotInSilence) {
  const auto other = compiling_process();
  CompileInputs hasty = inputs();
  hasty.time_limit = 1;
  Trace trace;
  const auto start = steady_clock::now();
  EXPECT_NE(make()->answer(hasty, "", &trace), nullptr);
  EXPECT_GE(steady_clock::now() - start, milliseconds(900));
  EXPECT_LT(steady_clock::now() - start, seconds(20));
  EXPECT_THAT(steps(trace), Contains("lock: waited in vain"));
  EXPECT_EQ(first_.compiles, 1);
  EXPECT_THAT(warnings_,
              testing::ElementsAre(fmt::format("jit: k.cu: process {} compiles the same kernel; "
                                               "waiting for it, at most 1 s",
                                               other->pid())));
}

TEST_F(LockWaitTest, ATimeLimitOfTheEnvironmentBoundsItToo) {
  const auto other = compiling_process();
  const test::Variable limit("EINKORN_JIT_TIMEOUT", "0.1");
  EXPECT_NE(make()->answer(inputs(), "", nullptr), nullptr);
  EXPECT_TRUE(warnings_.empty()) << "not worth a word";
}

TEST_F(LockWaitTest, NotForAProcessThatIsStopped) {
  const auto other = compiling_process();
  ASSERT_EQ(kill(other->pid(), SIGSTOP), 0);
  const auto start = steady_clock::now();
  EXPECT_NE(make()->answer(inputs(), "", nullptr), nullptr);
  EXPECT_LT(steady_clock::now() - start, seconds(20));
  EXPECT_EQ(first_.compiles, 1);
}

}  // namespace
}  // namespace einkorn::jit
