#include "cli/run_arguments.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "cli/formula.h"
#include "cli/status.h"
#include "src/core/float.h"

namespace einkorn::cli {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& reason) {
  throw Exit(kBadUsage, fmt::format("--arg: {}, got \"{}\"\n"
                                    "  hint: --arg x=f32[1024] is a tensor, --arg n=1024 a number",
                                    reason, text));
}

template <class T>
bool parses(const std::string& text, T& out) {
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, out);
  return error == std::errc() && after == end && !text.empty();
}

/// One that formulas can hold.
bool is_name(std::string_view text) {
  return std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, [](char c) {
           return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
         });
}

/// Nothing for a tensor's text.
std::optional<RunArgument> parse_number(const std::string& name, const std::string& text) {
  std::int64_t whole = 0;
  double real = 0;
  if (text == "true" || text == "false") return RunArgument{name, text == "true"};
  if (parses(text, whole)) return RunArgument{name, whole};
  if (parses(text, real)) return RunArgument{name, real};
  return std::nullopt;
}

double value_at(const std::string& fill, DType dtype, std::int64_t i, Rng& rng) {
  const bool whole = !is_floating(dtype);
  if (fill == "zeros") return 0;
  if (fill == "iota") return static_cast<double>(i);
  const double uniform = 2 * rng.uniform() - 1;
  return whole ? std::floor(8 * uniform) : uniform;
}

struct TensorText {
  std::string dtype, sizes, fill;
};

/// The parts of "f32[n, 64]:iota".
TensorText split_tensor(const std::string& whole, const std::string& text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) {
    refuse(whole, "expected a number or dtype[sizes]");
  }
  TensorText out{text.substr(0, open), text.substr(open + 1, close - open - 1), "random"};
  const std::string rest = text.substr(close + 1);
  if (rest.empty()) return out;
  out.fill = rest.substr(1);
  if (rest[0] != ':' || (out.fill != "zeros" && out.fill != "iota" && out.fill != "random")) {
    refuse(whole, "expected :random, :zeros or :iota after the sizes");
  }
  return out;
}

std::vector<std::int64_t> sizes_of(const std::string& name, std::string_view text,
                                   const FormulaNames& names) {
  std::vector<std::int64_t> out;
  if (text.empty()) return out;  // a tensor of one element
  for (const std::string& formula : split_formulas(text)) {
    out.push_back(static_cast<std::int64_t>(
        whole_number(fmt::format("--arg {}, size", name), formula, names)));
  }
  return out;
}

/// Of a tensor's parts; errors of theirs begin with the argument's name.
template <class Body>
auto of_argument(const std::string& name, Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    throw Exit(kBadUsage, fmt::format("--arg {}: {}", name, error.what()));
  }
}

RunArgument make_tensor(const std::string& name, const std::string& whole, const std::string& text,
                        const FormulaNames& names, Rng& rng) {
  const TensorText parts = split_tensor(whole, text);
  const DType dtype = of_argument(name, [&] { return parse_dtype(parts.dtype); });
  if (bits(dtype) < 8) refuse(whole, "expected a dtype of whole bytes");
  const std::vector<std::int64_t> sizes = sizes_of(name, parts.sizes, names);
  Tensor tensor = of_argument(name, [&] { return Tensor::empty(sizes, dtype, kCpuDevice); });
  const TensorView& view = tensor.view();
  for (std::int64_t i = 0; i < view.numel(); ++i) {
    store_from_double(view, i, value_at(parts.fill, dtype, i, rng));
  }
  return {name, std::move(tensor)};
}

}  // namespace

std::vector<RunArgument> parse_run_arguments(const std::vector<std::string>& texts, Rng& rng) {
  struct Split {
    std::string name, value;
  };
  std::vector<Split> split;
  std::set<std::string> names;
  std::vector<RunArgument> numbers;  // first, as sizes may use those that come later
  for (const std::string& text : texts) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0) refuse(text, "expected name=value");
    split.push_back({text.substr(0, at), text.substr(at + 1)});
    if (!is_name(split.back().name)) {
      refuse(text, "expected a name of letters, digits and _ that begins with no digit");
    }
    if (!names.insert(split.back().name).second) refuse(text, "expected each name once");
    if (auto number = parse_number(split.back().name, split.back().value)) {
      numbers.push_back(*std::move(number));
    }
  }
  FormulaNames known = formula_names(numbers);
  for (const Split& one : split) {
    if (!known.whole.contains(one.name)) known.others.try_emplace(one.name, "a tensor");
  }
  std::vector<RunArgument> out;
  for (std::size_t i = 0; i < split.size(); ++i) {
    auto number = parse_number(split[i].name, split[i].value);
    out.push_back(number ? *std::move(number)
                         : make_tensor(split[i].name, texts[i], split[i].value, known, rng));
  }
  return out;
}

FormulaNames formula_names(const std::vector<RunArgument>& arguments) {
  FormulaNames out;
  for (const RunArgument& argument : arguments) {
    if (const auto* whole = std::get_if<std::int64_t>(&argument.value)) {
      out.whole[argument.name] = static_cast<double>(*whole);
    } else if (const auto* real = std::get_if<double>(&argument.value)) {
      if (std::isfinite(*real) && *real == std::trunc(*real)) {
        out.whole[argument.name] = *real;  // 1e6
      } else {
        out.others[argument.name] = fmt::format("{}", *real);
      }
    } else {
      out.others[argument.name] = argument.tensor() != nullptr ? "a tensor" : "true or false";
    }
  }
  return out;
}

}  // namespace einkorn::cli
