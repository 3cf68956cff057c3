#pragma once

// Formulas that the user types, over named numbers. Parsed by muParser.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace einkorn::cli {

/// What the names in a formula of whole numbers stand for.
struct FormulaNames {
  std::map<std::string, double> whole;
  std::map<std::string, std::string> others;  ///< names that stand for none: "1.5", "a tensor"
};

/// A whole number such as "(n + 255) / 256": + - * / % and parentheses, where / leaves out the
/// remainder; cdiv(a, b) rounds up. Bad usage that names `what`: a formula that does not parse, an
/// unknown name (lists those there are), a negative or broken result, a division by 0.
std::uint64_t whole_number(const std::string& what, const std::string& formula,
                           const FormulaNames& names);

/// The pieces of "a, f(b, c)" between the commas outside of parentheses.
std::vector<std::string> split_formulas(std::string_view text);

/// "left == right", each side real: + - * / ^, comparisons, exp, ln, sqrt, abs, min, max, tanh,
/// rsqrt, sigmoid, silu and whatever else muParser has.
class Equation {
 public:
  /// Bad usage: no "==", or a side that does not parse.
  explicit Equation(const std::string& text);
  ~Equation();
  Equation(const Equation&) = delete;
  Equation& operator=(const Equation&) = delete;

  /// Names that the sides use, sorted; those of the left one.
  std::vector<std::string> names() const;
  std::vector<std::string> left_names() const;
  /// What a name stands for, from now on the value that is at `place`. Bad usage: the name is a
  /// function's.
  void bind(const std::string& name, double* place);
  /// Bad usage: a side has no value, once all names are bound. What follows has one then.
  void try_out() const;

  struct Sides {
    double left, right;
  };
  Sides evaluate() const;
  double right() const;

 private:
  struct Parsers;
  std::unique_ptr<Parsers> parsers_;
};

}  // namespace einkorn::cli
