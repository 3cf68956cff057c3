#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <einkorn/jit.h>

#include "src/jit/cubin.h"
#include "src/jit/signature.h"

namespace einkorn::jit {

/// What is known of a kernel's parameters: sizes from its cubin, types from its mangled name.
struct KernelFacts {
  std::vector<CubinParameter> layout;
  std::optional<std::vector<Parameter>> signature;
};

/// RuntimeError: the artifact's cubin cannot be read, or lacks the kernel.
std::shared_ptr<const KernelFacts> kernel_facts(const Artifact& artifact,
                                                const std::string& lowered);

}  // namespace einkorn::jit
