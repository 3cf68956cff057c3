#pragma once

// Other libraries, timed beside ours by a Python process that runs them (bench/peers/serve.py).

#include <cstdint>
#include <string>
#include <vector>

#include <einkorn/op.h>

#include "src/measure/bench.h"
#include "src/measure/process.h"

namespace einkorn::measure {

/// What peers are asked to run: the same problem, over as many input sets as ours rotate over.
struct PeerTask {
  const OpDef& op;
  const AnyProblem& problem;
  Device device;
  std::uint64_t seed;
  int sets;
};

/// One JSON object a line each way; docs in bench/README.md.
class PeerServer {
 public:
  /// RuntimeError when the process cannot be started.
  explicit PeerServer(const std::vector<std::string>& command) : process_(command) {}

  /// python_command() and the checkout's bench/peers/serve.py. RuntimeError when there is none.
  static std::vector<std::string> default_command();

  /// Peers for a task, those that cannot run with the reason. RuntimeError: the process failed or
  /// answered nonsense.
  std::vector<PeerResult> setup(const PeerTask& task);

  /// One sample, microseconds per call. RuntimeError as above, or with the peer's own error.
  double time_us(const std::string& peer);

 private:
  ChildProcess process_;
};

}  // namespace einkorn::measure
