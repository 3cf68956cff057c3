#pragma once

// Arguments of a kernel from the command line.

#include <string>
#include <variant>
#include <vector>

#include <einkorn/op.h>
#include <einkorn/tensor.h>

#include "cli/formula.h"

namespace einkorn::cli {

/// One `--arg`: a tensor on the CPU with random content, or a number.
struct RunArgument {
  std::string name;
  std::variant<Tensor, std::int64_t, double, bool> value;

  const Tensor* tensor() const { return std::get_if<Tensor>(&value); }
};

/// "x=f32[1024]", "x=bf16[n, 64]", "x=i32[8]:iota", "n=1024", "eps=1e-6", "flag=true". Sizes are
/// formulas over the whole numbers of all arguments. Tensors are random (floats uniform in [-1, 1),
/// integers in [-8, 8)), or `:zeros`, `:iota` (0, 1, 2, ...).
/// Bad usage: another form, a name given twice, an unknown dtype.
std::vector<RunArgument> parse_run_arguments(const std::vector<std::string>& texts, Rng& rng);

/// What formulas may name.
FormulaNames formula_names(const std::vector<RunArgument>& arguments);

}  // namespace einkorn::cli
