#include "tests/unit/other_user.h"

#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

namespace einkorn::test {
namespace {

[[noreturn]] void run_as(uid_t user, gid_t group, const std::function<void()>& body) {
  constexpr int kFailed = 1;
  if (setgroups(0, nullptr) != 0 || setgid(group) != 0 || setuid(user) != 0) {
    std::perror("cannot change the user");
    _exit(kFailed);
  }
  try {
    body();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
  std::fflush(nullptr);
  _exit(testing::Test::HasFailure() ? kFailed : 0);
}

}  // namespace

bool may_change_user() { return geteuid() == 0; }

testing::AssertionResult passes_as(uid_t user, gid_t group, const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return testing::AssertionFailure() << "fork: " << std::strerror(errno);
  if (child == 0) run_as(user, group, body);
  int status = 0;
  if (waitpid(child, &status, 0) != child) {
    return testing::AssertionFailure() << "waitpid: " << std::strerror(errno);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "as user " << user << ", see above; status " << status;
}

testing::AssertionResult passes_as(uid_t user, const std::function<void()>& body) {
  return passes_as(user, user, body);
}

}  // namespace einkorn::test
