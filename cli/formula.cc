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
double divide_up(double a, double b) { return std::ceil(a / b); }

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
  parser.ClearFun();
  parser.ClearConst();
  parser.DefineFun("cdiv", divide_up);
  return parser;
}

/// Why a name cannot stand in a formula, and what can.
std::string unknown_name(const std::string& name, const FormulaNames& names) {
  if (const auto other = names.others.find(name); other != names.others.end()) {
    return fmt::format("expected whole numbers, got {} = {}", name, other->second);
  }
  std::vector<std::string> known;
  known.reserve(names.whole.size());
  for (const auto& [whole, value] : names.whole) known.push_back(whole);
  return fmt::format("unknown name \"{}\"; known are + - * / %, cdiv(a, b){}", name,
                     known.empty() ? ", and no number is given by --arg"
                                   : fmt::format(" and {}", fmt::join(known, ", ")));
}

/// muParser would take "y = x" for an assignment.
void refuse_assignment(const std::string& side) {
  for (std::size_t at = side.find('='); at != std::string::npos; at = side.find('=', at + 1)) {
    const bool compares =
        at > 0 && std::string_view("<>!=").find(side[at - 1]) != std::string::npos;
    if (compares) continue;
    if (at + 1 < side.size() && side[at + 1] == '=') continue;
    refuse("--check", side, "expected no assignment");
  }
}

mu::Parser real_parser(const std::string& side) {
  refuse_assignment(side);
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
                           const FormulaNames& names) {
  if (formula.find_first_not_of(" \t") == std::string::npos) {
    refuse(what, formula, "expected a whole number, got an empty text");
  }
  double value = 0;
  try {
    mu::Parser parser = whole_number_parser();
    for (const auto& [name, number] : names.whole) parser.DefineConst(name, number);
    parser.SetExpr(formula);
    value = parser.Eval();
  } catch (const mu::ParserError& error) {
    refuse(what, formula,
           error.GetCode() == mu::ecUNASSIGNABLE_TOKEN ? unknown_name(error.GetToken(), names)
                                                       : error.GetMsg());
  }
  if (!std::isfinite(value)) {
    refuse(what, formula, "expected a whole number, got a division by 0");
  }
  if (!(value >= 0 && value <= kLargest) || value != std::trunc(value)) {
    refuse(what, formula, fmt::format("expected a whole number from 0 to 2^53, got {}", value));
  }
  return static_cast<std::uint64_t>(value);
}

std::vector<std::string> split_formulas(std::string_view text) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ',' && depth <= 0) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
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

namespace {

std::vector<std::string> names_in(std::initializer_list<const mu::Parser*> parsers) {
  std::set<std::string> out;
  for (const mu::Parser* parser : parsers) {
    for (const auto& [name, place] : parser->GetUsedVar()) out.insert(name);
  }
  return {out.begin(), out.end()};
}

}  // namespace

std::vector<std::string> Equation::names() const {
  return names_in({&parsers_->left, &parsers_->right});
}
std::vector<std::string> Equation::left_names() const { return names_in({&parsers_->left}); }

void Equation::bind(const std::string& name, double* place) {
  try {
    parsers_->left.DefineVar(name, place);
    parsers_->right.DefineVar(name, place);
  } catch (const mu::ParserError& error) {
    refuse("--check", name, error.GetMsg());
  }
}

void Equation::try_out() const {
  for (const mu::Parser* parser : {&parsers_->left, &parsers_->right}) {
    try {
      parser->Eval();
    } catch (const mu::ParserError& error) {
      refuse("--check", parser->GetExpr(), error.GetMsg());
    }
  }
}

Equation::Sides Equation::evaluate() const {
  return {parsers_->left.Eval(), parsers_->right.Eval()};
}

double Equation::right() const { return parsers_->right.Eval(); }

}  // namespace einkorn::cli
