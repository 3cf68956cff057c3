#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <einkorn/jit.h>

#include "src/jit/embedded.h"

namespace einkorn::jit {

/// Everything that decides what a compilation gives: equal inputs, equal artifact.
struct CompileInputs {
  std::string compiler;  ///< "nvrtc 13.0"
  std::string arch;
  std::vector<std::string> options;  ///< all of them, in order, einkorn's own included
  std::string file;
  std::string source;
  std::vector<std::string> entries;
  std::span<const EmbeddedSource> headers;  ///< all that an include may reach
};

/// Where artifacts outlive the process. Called from any thread, for one input by one thread at a
/// time. Neither function throws for trouble of its own: a store that cannot serve answers null
/// and says so once where it logs.
class ArtifactStore {
 public:
  virtual ~ArtifactStore() = default;
  /// Null when it is not there.
  virtual std::shared_ptr<const Artifact> lookup(const CompileInputs& inputs) = 0;
  virtual void publish(const CompileInputs& inputs, const Artifact& artifact) = 0;
};

/// Store asked before a compile and told after it; none by default. It has to outlive its use.
void set_artifact_store(ArtifactStore* store);
ArtifactStore* artifact_store();

}  // namespace einkorn::jit
