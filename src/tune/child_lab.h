#pragma once

// A lab in a child process, which a candidate may take down without harm.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "src/measure/process.h"
#include "src/tune/lab.h"
#include "src/tune/protocol.h"

namespace einkorn::tune {

/// How long each answer may take before the child is ended.
struct TimeLimits {
  std::chrono::milliseconds start = std::chrono::minutes(10);  ///< the reference of a large problem
  std::chrono::milliseconds prepare = std::chrono::minutes(2);
  std::chrono::milliseconds sample = std::chrono::seconds(30);
};

class ChildLab final : public Lab {
 public:
  /// `command` runs serve(); see worker.h.
  explicit ChildLab(std::vector<std::string> command, TimeLimits limits = {});

  Started start(const Subject& subject) override;
  Prepared prepare(std::size_t id, std::string_view tiling, bool check) override;
  Samples sample(std::size_t id, int count) override;
  void drop(std::size_t id) override;

  /// This executable, with the hidden verb that serves.
  static std::vector<std::string> own_command();

 private:
  protocol::Answer ask(const protocol::Request& request, std::chrono::milliseconds limit);
  template <class Wanted>
  Wanted expect(const protocol::Request& request, std::chrono::milliseconds limit);

  std::vector<std::string> command_;
  TimeLimits limits_;
  std::unique_ptr<measure::ChildProcess> child_;
};

}  // namespace einkorn::tune
