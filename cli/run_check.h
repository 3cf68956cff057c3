#pragma once

// `jit run --check`: an equation over the arguments of a kernel, element by element.

#include <cstdint>
#include <string>
#include <vector>

#include "cli/run_arguments.h"

namespace einkorn::cli {

struct CheckOutcome {
  std::int64_t elements = 0, wrong = 0;
  double worst = 0;  ///< largest |left - right|; NaN when one side alone is
  std::vector<std::string> shown;
};

/// Bad usage: the equation does not parse, names what is no argument, or tensors of several sizes.
void check_equation(const std::string& equation, const std::vector<RunArgument>& arguments);

/// `before` as parsed, `after` its tensors in order after the launch. An element holds when
///
///     |left - right| <= t * (|right| + spread) + spacing
///
/// where t is `tolerance`, or when that is negative follows from the dtype of the left side's first
/// tensor (default_tolerance); spread is how far the right side moves when each of its operands
/// moves by its own size, to first order, as rounding an operand moves it by a part of its size;
/// spacing is the smallest positive value of that dtype, 0 for integers. Equal sides and two NaN
/// hold.
CheckOutcome check_elements(const std::string& equation, double tolerance,
                            const std::vector<RunArgument>& before,
                            const std::vector<Tensor>& after);

/// Eight times the distance of 1 to the next larger value, for a formula of a few roundings; that
/// distance alone for the 8-bit floats, which hold a result and are not computed in; 0 for
/// integers.
double default_tolerance(DType dtype);

}  // namespace einkorn::cli
