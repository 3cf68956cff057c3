#pragma once

// A child process that we talk to in lines.

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include <einkorn/error.h>

namespace einkorn::measure {

/// The child lives and said nothing for as long as it was given.
class NoAnswer final : public Error {
 public:
  using Error::Error;
};

/// Started with its standard input and output on one socket; its standard error is kept for error
/// messages. Killed and reaped when this goes.
class ChildProcess {
 public:
  /// `argv[0]` is searched in PATH; no shell takes part. RuntimeError when it cannot be started.
  explicit ChildProcess(const std::vector<std::string>& argv);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Sends the line and a newline. RuntimeError when the child is gone.
  void write_line(const std::string& line);

  /// The next line, without its newline. RuntimeError when the child ends first, NoAnswer
  /// when it says nothing for that long; the message ends with the last of its standard error.
  std::string read_line(std::chrono::milliseconds timeout);

 private:
  std::string report(const std::string& what) const;
  [[noreturn]] void fail(const std::string& what) const;
  std::string how_it_ended();

  std::string name_;
  int socket_ = -1;
  int errors_ = -1;  // an unlinked file that takes the child's standard error
  pid_t pid_ = -1;
  std::string pending_;
};

}  // namespace einkorn::measure
