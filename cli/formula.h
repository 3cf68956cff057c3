#pragma once

// Formulas that the user types, over named numbers. Parsed by muParser.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace einkorn::cli {

/// A whole number such as "(n + 255) / 256": + - * / % and parentheses, where / leaves out the
/// remainder. Bad usage that names `what`: a formula that does not parse, an unknown name (lists
/// those there are), a negative or broken result, a division by 0.
std::uint64_t whole_number(const std::string& what, const std::string& formula,
                           const std::map<std::string, double>& names);

/// "left == right", each side real: + - * / ^, comparisons, exp, ln, sqrt, abs, min, max, tanh,
/// rsqrt, sigmoid, silu and whatever else muParser has.
class Equation {
 public:
  /// Bad usage: no "==", or a side that does not parse.
  explicit Equation(const std::string& text);
  ~Equation();
  Equation(const Equation&) = delete;
  Equation& operator=(const Equation&) = delete;

  /// Names that both sides use, sorted.
  std::vector<std::string> names() const;
  /// What a name stands for, from now on the value that is at `place`.
  void bind(const std::string& name, double* place);

  struct Sides {
    double left, right;
  };
  Sides evaluate() const;

 private:
  struct Parsers;
  std::unique_ptr<Parsers> parsers_;
};

}  // namespace einkorn::cli
