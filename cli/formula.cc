#include "cli/formula.h"

#include <muParser.h>

#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/status.h"

namespace einkorn::cli {
namespace {

// Doubles hold whole numbers exactly up to here.
constexpr double kLargest = 9007199254740992.0;  // 2^53

double divide(double a, double b) { return std::trunc(a / b); }
double remainder(double a, double b) { return std::fmod(a, b); }

double rsqrt(double x) { return 1.0 / std::sqrt(x); }
double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double silu(double x) { return x * sigmoid(x); }

[[noreturn]] void refuse(const std::string& what, const std::string& formula,
                         const std::string& reason) {
  throw Exit(kBadUsage, fmt::format("{}: {}, in \"{}\"", what, reason, formula));
}

/// Its own operators of whole numbers, in C's precedence; muParser's divide as real numbers do.
mu::Parser whole_number_parser() {
  mu::Parser parser;
  parser.EnableBuiltInOprt(false);
  parser.DefineOprt("+", [](double a, double b) { return a + b; }, mu::prADD_SUB);
  parser.DefineOprt("-", [](double a, double b) { return a - b; }, mu::prADD_SUB);
  parser.DefineOprt("*", [](double a, double b) { return a * b; }, mu::prMUL_DIV);
  parser.DefineOprt("/", divide, mu::prMUL_DIV);
  parser.DefineOprt("%", remainder, mu::prMUL_DIV);
  return parser;
}

std::string known_names(const std::map<std::string, double>& names) {
  std::vector<std::string> known;
  known.reserve(names.size());
  for (const auto& [name, value] : names) known.push_back(name);
  return known.empty() ? "no number is given by --arg"
                       : fmt::format("known are {}", fmt::join(known, ", "));
}

mu::Parser real_parser(const std::string& side) {
  mu::Parser parser;
  parser.DefineFun("rsqrt", rsqrt);
  parser.DefineFun("sigmoid", sigmoid);
  parser.DefineFun("silu", silu);
  try {
    parser.SetExpr(side);
    parser.GetUsedVar();
  } catch (const mu::ParserError& error) {
    refuse("--check", side, error.GetMsg());
  }
  return parser;
}

}  // namespace

std::uint64_t whole_number(const std::string& what, const std::string& formula,
                           const std::map<std::string, double>& names) {
  double value = 0;
  try {
    mu::Parser parser = whole_number_parser();
    for (const auto& [name, number] : names) parser.DefineConst(name, number);
    parser.SetExpr(formula);
    value = parser.Eval();
  } catch (const mu::ParserError& error) {
    refuse(what, formula,
           error.GetCode() == mu::ecUNASSIGNABLE_TOKEN
               ? fmt::format("unknown name \"{}\"; {}", error.GetToken(), known_names(names))
               : error.GetMsg());
  }
  if (!(value >= 0 && value <= kLargest) || value != std::trunc(value)) {
    refuse(what, formula, fmt::format("expected a whole number from 0 on, got {}", value));
  }
  return static_cast<std::uint64_t>(value);
}

struct Equation::Parsers {
  mu::Parser left, right;
};

Equation::Equation(const std::string& text) {
  const std::size_t at = text.find("==");
  if (at == std::string::npos) refuse("--check", text, "expected \"left == right\"");
  parsers_ = std::make_unique<Parsers>(
      Parsers{real_parser(text.substr(0, at)), real_parser(text.substr(at + 2))});
}

Equation::~Equation() = default;

std::vector<std::string> Equation::names() const {
  std::set<std::string> out;
  for (const mu::Parser* parser : {&parsers_->left, &parsers_->right}) {
    for (const auto& [name, place] : parser->GetUsedVar()) out.insert(name);
  }
  return {out.begin(), out.end()};
}

void Equation::bind(const std::string& name, double* place) {
  parsers_->left.DefineVar(name, place);
  parsers_->right.DefineVar(name, place);
}

Equation::Sides Equation::evaluate() const {
  return {parsers_->left.Eval(), parsers_->right.Eval()};
}

}  // namespace einkorn::cli
