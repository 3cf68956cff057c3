#pragma once

#include <sys/types.h>

#include <functional>

#include <gtest/gtest.h>

namespace einkorn::test {

/// Two that are not us, and mostly nobody.
inline constexpr uid_t kOneUser = 65'534;
inline constexpr uid_t kOtherUser = 65'533;

/// Whether this process may act as other users do.
bool may_change_user();

/// Runs `body` in a child process of that user and group, with nothing but their rights; its failed
/// expectations are printed and make this fail.
testing::AssertionResult passes_as(uid_t user, gid_t group, const std::function<void()>& body);
testing::AssertionResult passes_as(uid_t user, const std::function<void()>& body);

}  // namespace einkorn::test
