#include "src/jit/signature.h"

#include <cxxabi.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>

namespace einkorn::jit {
namespace {

struct ScalarType {
  std::string_view name;  // as the demangler prints it
  int bytes;
  bool is_floating, is_signed;
  std::optional<DType> dtype = {};
  std::optional<DType> signed_dtype = {};
};

// Sizes of device code, which are those of 64-bit Linux.
constexpr std::array kScalarTypes = {
    ScalarType{"bool", 1, false, false, kBool},
    ScalarType{"char", 1, false, true},
    ScalarType{"signed char", 1, false, true, kI8},
    ScalarType{"unsigned char", 1, false, false, kU8},
    ScalarType{"short", 2, false, true},
    ScalarType{"unsigned short", 2, false, false},
    ScalarType{"int", 4, false, true, kI32},
    ScalarType{"unsigned int", 4, false, false, {}, kI32},
    ScalarType{"long", 8, false, true, kI64},
    ScalarType{"unsigned long", 8, false, false, {}, kI64},
    ScalarType{"long long", 8, false, true, kI64},
    ScalarType{"unsigned long long", 8, false, false, {}, kI64},
    ScalarType{"float", 4, true, true, kF32},
    ScalarType{"double", 8, true, true, kF64},
    ScalarType{"einkorn::f16", 2, true, true, kF16},
    ScalarType{"__half", 2, true, true, kF16},
    ScalarType{"einkorn::bf16", 2, true, true, kBF16},
    ScalarType{"__nv_bfloat16", 2, true, true, kBF16},
    ScalarType{"einkorn::f8e4m3", 1, true, true, kF8E4M3},
    ScalarType{"__nv_fp8_e4m3", 1, true, true, kF8E4M3},
    ScalarType{"einkorn::f8e5m2", 1, true, true, kF8E5M2},
    ScalarType{"__nv_fp8_e5m2", 1, true, true, kF8E5M2},
    ScalarType{"__nv_fp8_e8m0", 1, true, false, kE8M0},
};

const ScalarType* find_scalar(std::string_view name) {
  for (const ScalarType& type : kScalarTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// Removes qualifiers behind a type, where the demangler puts them; true when const was one.
bool remove_qualifiers(std::string_view& type) {
  bool is_const = false;
  for (bool again = true; again;) {
    again = false;
    type = trimmed(type);
    for (std::string_view qualifier : {" const", "*const", " volatile", " restrict"}) {
      if (!type.ends_with(qualifier)) continue;
      type.remove_suffix(qualifier.size() - (qualifier.front() == '*' ? 1 : 0));
      is_const |= qualifier.ends_with("const");
      again = true;
    }
  }
  return is_const;
}

/// Length of an operator's symbol at `at`, behind the word "operator", of those that look like
/// brackets or commas; 0 for others. `operator<=` before a closing bracket looks like `<=>`; the
/// brackets do not match then, and there is no signature.
std::size_t symbol_length(std::string_view text, std::size_t at) {
  constexpr std::array<std::string_view, 14> kSymbols = {
      "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">", ","};
  for (std::string_view symbol : kSymbols) {
    if (text.substr(at).starts_with(symbol)) return symbol.size();
  }
  return 0;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Where a comparison or shift of an expression in a template argument ends, such as `(4)>>(1)`,
/// whose operands the demangler puts into parentheses; `at` itself when a bracket is there.
std::size_t after_comparison(std::string_view text, std::size_t at) {
  if (at == 0 || text[at - 1] != ')') return at;
  const std::size_t end = text.find_first_not_of("<>=", at);
  return end != std::string_view::npos && text[end] == '(' ? end : at;
}

/// The pieces of a list between its commas, those in brackets of any kind left alone. Nothing when
/// the brackets do not match.
std::optional<std::vector<std::string_view>> split_list(std::string_view text) {
  constexpr std::string_view kOpening = "(<[{";
  constexpr std::string_view kClosing = ")>]}";
  constexpr std::string_view kOperator = "operator";
  std::vector<std::string_view> pieces;
  if (trimmed(text).empty()) return pieces;
  std::string open;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(kOperator) && (i == 0 || !is_word(text[i - 1]))) {
      const std::size_t end = i + kOperator.size();
      if (end >= text.size() || !is_word(text[end])) i = end + symbol_length(text, end);
      if (i >= text.size()) break;
    }
    if (const std::size_t end = after_comparison(text, i); end != i) i = end;
    const char c = text[i];
    if (kOpening.find(c) != std::string_view::npos) {
      open += c;
    } else if (c == '>' && (open.empty() || open.back() != '<')) {
      continue;  // of an expression
    } else if (const std::size_t kind = kClosing.find(c); kind != std::string_view::npos) {
      if (open.empty() || open.back() != kOpening[kind]) return std::nullopt;
      open.pop_back();
    } else if (c == ',' && open.empty()) {
      pieces.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (!open.empty()) return std::nullopt;
  pieces.push_back(trimmed(text.substr(begin)));
  return pieces;
}

/// What is between the last ')' and its '('.
std::optional<std::string_view> parameter_list(std::string_view demangled) {
  if (!demangled.ends_with(')')) return std::nullopt;
  int depth = 0;
  for (std::size_t i = demangled.size(); i-- > 0;) {
    if (demangled[i] == ')') ++depth;
    if (demangled[i] == '(' && --depth == 0) {
      return demangled.substr(i + 1, demangled.size() - i - 2);
    }
  }
  return std::nullopt;
}

Parameter parse_parameter(std::string_view text) {
  constexpr int kPointerBytes = 8;
  Parameter parameter;
  parameter.text = text;
  std::string_view type = text;
  remove_qualifiers(type);
  const bool points = type.ends_with('&') || (type.ends_with('*') && !type.ends_with("::*"));
  if (points) {
    if (type.ends_with('*')) {
      type.remove_suffix(1);
    } else {
      while (type.ends_with('&')) type.remove_suffix(1);
    }
    parameter.kind = Parameter::Kind::kPointer;
    parameter.bytes = kPointerBytes;
    parameter.is_const = remove_qualifiers(type);
  } else if (type.find("(*) [") != std::string_view::npos && type.ends_with(']')) {
    parameter.kind = Parameter::Kind::kPointer;  // to an array
    parameter.bytes = kPointerBytes;
    return parameter;
  }
  const ScalarType* scalar = find_scalar(type);
  if (scalar == nullptr) return parameter;
  parameter.dtype = scalar->dtype;
  parameter.signed_dtype = scalar->signed_dtype;
  if (!points) {
    parameter.kind = Parameter::Kind::kScalar;
    parameter.bytes = scalar->bytes;
    parameter.is_floating = scalar->is_floating;
    parameter.is_signed = scalar->is_signed;
  }
  return parameter;
}

}  // namespace

std::string demangle(std::string_view lowered) {
  std::string name(lowered);
  if (!lowered.starts_with("_Z")) return name;
  struct Free {
    void operator()(char* text) const { std::free(text); }  // NOLINT: as __cxa_demangle asks
  };
  int status = 0;
  const std::unique_ptr<char, Free> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status));
  return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

std::optional<std::vector<Parameter>> parse_signature(std::string_view lowered) {
  if (!lowered.starts_with("_Z")) return std::nullopt;
  const std::string demangled = demangle(lowered);
  const auto list = parameter_list(demangled);
  if (!list) return std::nullopt;
  const auto pieces = split_list(*list);
  if (!pieces) return std::nullopt;
  std::vector<Parameter> parameters;
  parameters.reserve(pieces->size());
  for (std::string_view piece : *pieces) parameters.push_back(parse_parameter(piece));
  return parameters;
}

}  // namespace einkorn::jit
