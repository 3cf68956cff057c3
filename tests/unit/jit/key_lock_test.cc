#include "src/jit/key_lock.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include <gtest/gtest.h>

#include "tests/unit/jit/store_fixture.h"

namespace einkorn::jit {
namespace {

using std::chrono::milliseconds;

class KeyLockTest : public testing::Test {
 protected:
  test::FileTree scratch_;
  std::string file_ = scratch_.path("lock");
};

TEST_F(KeyLockTest, OneHolderOfAKey) {
  const KeyLock first(file_, numbered_key(1), milliseconds(0));
  EXPECT_TRUE(first.held());
  EXPECT_FALSE(first.waited());
  const KeyLock second(file_, numbered_key(1), milliseconds(20));
  EXPECT_FALSE(second.held());
  EXPECT_TRUE(second.waited());
  const KeyLock other(file_, numbered_key(2), milliseconds(0));
  EXPECT_TRUE(other.held());
}

TEST_F(KeyLockTest, AWaiterGetsItWhenTheHolderLetsGo) {
  auto first = std::make_unique<KeyLock>(file_, numbered_key(1), milliseconds(0));
  std::jthread later([&first] {
    std::this_thread::sleep_for(milliseconds(30));
    first.reset();
  });
  const KeyLock second(file_, numbered_key(1), milliseconds(10'000));
  EXPECT_TRUE(second.held());
  EXPECT_TRUE(second.waited());
}

TEST_F(KeyLockTest, ADeadHolderHoldsNothing) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const KeyLock held(file_, numbered_key(1), milliseconds(0));
    const char answer = held.held() ? 'y' : 'n';
    if (write(ready[1], &answer, 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_FALSE(KeyLock(file_, numbered_key(1), milliseconds(0)).held());
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(KeyLock(file_, numbered_key(1), milliseconds(0)).held());
  close(ready[0]);
  close(ready[1]);
}

TEST_F(KeyLockTest, WithoutAFileNobodyWaits) {
  const KeyLock lock("/nowhere/lock", numbered_key(1), milliseconds(10'000));
  EXPECT_FALSE(lock.held());
  EXPECT_FALSE(lock.waited());
}

}  // namespace
}  // namespace einkorn::jit
