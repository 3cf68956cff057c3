#include "cli/run_check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include <fmt/format.h>

#include "cli/formula.h"
#include "cli/status.h"
#include "src/core/float.h"

namespace einkorn::cli {
namespace {

constexpr std::size_t kShownMismatches = 5;
// Of the differences that give a derivative: far above a double's rounding, far below 1.
constexpr double kStep = 0x1p-20;

/// The smallest positive value, below which a result may round to 0: the lowest pattern.
double spacing_of(DType dtype) {
  std::uint64_t pattern = 1;
  return is_floating(dtype) ? load_as_double(TensorView(&pattern, dtype, {1}, kCpuDevice), 0) : 0;
}

/// From 1 to the next larger value.
double epsilon_of(DType dtype) {
  if (dtype == kF8E4M3) return std::exp2(-kF8E4M3Format.mantissa_bits);
  if (dtype == kF8E5M2) return std::exp2(-kF8E5M2Format.mantissa_bits);
  return 2 * unit_roundoff(dtype);
}

/// What the names of an equation stand for, element by element.
class Elements {
 public:
  Elements(const std::vector<RunArgument>& before, const std::vector<const Tensor*>& after,
           Equation& equation)
      : equation_(equation), names_(equation.names()), values_(names_.size()) {
    std::size_t tensor = 0;
    for (const RunArgument& argument : before) {
      if (const Tensor* start = argument.tensor()) {
        places_[argument.name] = after[tensor++];
        places_.try_emplace(argument.name + "0", start);
      } else if (const auto* whole = std::get_if<std::int64_t>(&argument.value)) {
        numbers_[argument.name] = static_cast<double>(*whole);
      } else if (const auto* real = std::get_if<double>(&argument.value)) {
        numbers_[argument.name] = *real;
      } else {
        numbers_[argument.name] = std::get<bool>(argument.value) ? 1 : 0;
      }
    }
    for (std::size_t i = 0; i < names_.size(); ++i) bind(i);
  }

  std::int64_t count() const { return count_; }

  /// The dtype of the left side's first tensor, else of any; f64 when none is named.
  DType dtype() const {
    for (const auto& names : {equation_.left_names(), names_}) {
      for (const std::string& name : names) {
        if (const auto found = places_.find(name); found != places_.end()) {
          return found->second->view().dtype();
        }
      }
    }
    return kF64;
  }

  void load(std::int64_t index) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto found = places_.find(names_[i]);
      if (found != places_.end()) {
        const TensorView& view = found->second->view();
        values_[i] = load_as_double(view, view.numel() == 1 ? 0 : index);
      } else if (names_[i] == "i" && !numbers_.contains("i")) {
        values_[i] = static_cast<double>(index);
      }
    }
  }

  /// How far the right side moves when each operand moves by its own size; load() first.
  double spread() {
    const double right = equation_.right();
    double sum = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      double& value = values_[i];
      const double exact = value;
      if (names_[i] == "i") continue;  // never rounded
      value = exact * (1 + kStep);
      const double moved = std::abs(equation_.right() - right) / kStep;
      value = exact;
      if (std::isfinite(moved)) sum += moved;  // a pole says nothing
    }
    return sum;
  }

 private:
  void bind(std::size_t i) {
    const std::string& name = names_[i];
    if (const auto tensor = places_.find(name); tensor != places_.end()) {
      const std::int64_t elements = tensor->second->view().numel();
      if (elements != 1 && count_ != 1 && elements != count_) {
        throw Exit(kBadUsage, fmt::format("--check: expected tensors of one size, got {} of {} "
                                          "elements beside {}",
                                          name, elements, count_));
      }
      count_ = elements == 1 ? count_ : elements;
    } else if (const auto number = numbers_.find(name); number != numbers_.end()) {
      values_[i] = number->second;
    } else if (name != "i") {
      throw Exit(kBadUsage, fmt::format("--check: unknown name \"{}\"\n  hint: names are those of "
                                        "--arg, with a 0 behind a tensor's for its content before "
                                        "the launch, and i for the index",
                                        name));
    }
    equation_.bind(name, &values_[i]);
  }

  Equation& equation_;
  std::vector<std::string> names_;
  std::vector<double> values_;
  std::map<std::string, const Tensor*> places_;
  std::map<std::string, double> numbers_;
  std::int64_t count_ = 1;
};

}  // namespace

double default_tolerance(DType dtype) {
  if (!is_floating(dtype)) return 0;  // whole numbers are exact
  return (bits(dtype) == 8 ? 1 : 8) * epsilon_of(dtype);
}

void check_equation(const std::string& equation, const std::vector<RunArgument>& arguments) {
  Equation parsed(equation);
  std::vector<const Tensor*> tensors;
  for (const RunArgument& argument : arguments) {
    if (argument.tensor() != nullptr) tensors.push_back(argument.tensor());
  }
  const Elements elements(arguments, tensors, parsed);
  parsed.try_out();
}

CheckOutcome check_elements(const std::string& equation, double tolerance,
                            const std::vector<RunArgument>& before,
                            const std::vector<Tensor>& after) {
  Equation parsed(equation);
  std::vector<const Tensor*> tensors;
  tensors.reserve(after.size());
  for (const Tensor& tensor : after) tensors.push_back(&tensor);
  Elements elements(before, tensors, parsed);
  const DType dtype = elements.dtype();
  if (tolerance < 0) tolerance = default_tolerance(dtype);
  const double spacing = spacing_of(dtype);
  CheckOutcome out;
  out.elements = elements.count();
  for (std::int64_t i = 0; i < out.elements; ++i) {
    elements.load(i);
    const Equation::Sides sides = parsed.evaluate();
    const bool both_nan = std::isnan(sides.left) && std::isnan(sides.right);
    if (sides.left == sides.right || both_nan) continue;
    const double error = std::abs(sides.left - sides.right);
    const auto within = [&](double scale) { return error <= tolerance * scale + spacing; };
    // An infinite bound would allow everything.
    const double size = std::isfinite(sides.right) ? std::abs(sides.right) : 0;
    // Most elements need no spread, which takes an evaluation for each name.
    if (!within(size) && !within(size + elements.spread())) {
      ++out.wrong;
      if (out.shown.size() < kShownMismatches) {
        out.shown.push_back(fmt::format("i={}: {} and {}", i, sides.left, sides.right));
      }
    }
    if (!(error <= out.worst)) out.worst = error;
  }
  return out;
}

}  // namespace einkorn::cli
