#pragma once

// C++ functions as kernels for the CPU: found by an expression, called with pointers to their
// arguments' values, as the driver calls a GPU's.
//
// Behind the source goes, for each expression, a C function that knows the parameters' types
// because it was compiled with them: templates, overloads in namespaces and functions that are not
// exported serve alike.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/jit.h>

#include "src/jit/kernel_facts.h"

namespace einkorn::jit {

/// The C function that calls the expression at `index` of entry_functions(); what a request for it
/// has to name.
std::string entry_symbol(std::size_t index);

/// What goes behind the source.
std::string entry_functions(std::span<const std::string> expressions);

/// One expression of a compiled program; good for the life of the process.
class CpuEntry {
 public:
  /// RuntimeError: it was compiled for instructions that this CPU lacks, or cannot be loaded.
  CpuEntry(const Program& program, std::size_t index, std::string_view name);

  const KernelFacts& facts() const { return facts_; }

  /// Errors of the arguments as Kernel::launch; RuntimeError: the function threw.
  void call(std::span<const Argument> arguments) const;

 private:
  using Call = int(void** values, char* message, std::size_t size);

  std::string name_;
  Call* call_;
  KernelFacts facts_;
};

}  // namespace einkorn::jit
