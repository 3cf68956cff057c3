#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <einkorn/error.h>
#include <einkorn/jit.h>

#include "src/jit/artifact_store.h"

namespace einkorn::jit {

/// What a compilation came to. A failure is one that the same inputs would meet again.
struct Outcome {
  std::shared_ptr<const Artifact> artifact;
  std::optional<Error> failure;
};

/// Text that is equal exactly when the inputs are, headers aside: those are fixed in a process.
std::string exact_key(const CompileInputs& inputs);

/// Outcomes by key, for the life of the process.
class MemoryCache {
 public:
  /// The artifact of `key`, built by one caller while the others of that key wait. A failure is
  /// kept and thrown to every later caller; what `build` throws is not kept.
  std::shared_ptr<const Artifact> get(const std::string& key,
                                      const std::function<Outcome()>& build);

 private:
  struct Slot {
    std::mutex mutex;
    std::optional<Outcome> outcome;
  };

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Slot>> slots_;
};

}  // namespace einkorn::jit
