#pragma once

#include <exception>
#include <string>
#include <utility>

#include <einkorn/error.h>

namespace einkorn::cli {

// Exit statuses, documented in docs/guide/command_line.md.
inline constexpr int kAllWell = 0;
inline constexpr int kFailed = 1;
inline constexpr int kBadUsage = 2;
inline constexpr int kNothingRan = 3;
inline constexpr int kInterrupted = 130;  ///< 128 + SIGINT, as a shell reports it

/// Ends the command with a message and a status.
class Exit : public std::exception {
 public:
  Exit(int status, std::string message) : status_(status), message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  int status() const { return status_; }

 private:
  int status_;
  std::string message_;
};

/// Runs `body`, which reads what the user typed: an unknown name or a bad value in it is bad usage,
/// while the same kinds of error later on are failures of the work.
template <class Body>
decltype(auto) as_usage(Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kValue || error.kind() == ErrorKind::kType) {
      throw Exit(kBadUsage, error.what());
    }
    throw;
  }
}

}  // namespace einkorn::cli
