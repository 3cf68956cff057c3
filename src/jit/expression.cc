#include <einkorn/error.h>
#include <einkorn/expression.h>
#include <fmt/format.h>

namespace einkorn::jit {

namespace {

/// Why the text is no one template argument, or nothing.
std::string_view flaw_of(std::string_view text) {
  if (text.find_first_not_of(' ') == std::string_view::npos) return "it is empty";
  std::string open;  // closing brackets still to come
  for (const char c : text) {
    constexpr std::string_view kOpening = "<([";
    constexpr std::string_view kClosing = ">)]";
    if (const std::size_t at = kOpening.find(c); at != std::string_view::npos) {
      open += kClosing[at];
    } else if (kClosing.find(c) != std::string_view::npos) {
      if (open.empty() || open.back() != c) return "its brackets do not pair";
      open.pop_back();
    } else if (c == ',' && open.empty()) {
      return "it is more than one";
    } else if (constexpr std::string_view kForeign = ";{}#\"\\`$@\n\r\t";
               kForeign.find(c) != std::string_view::npos) {
      return "it holds what no template argument does";
    }
  }
  return open.empty() ? std::string_view() : "its brackets do not pair";
}

bool may_begin(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Why the text names no template, or nothing. Of what encloses it, arguments may be part.
std::string_view flaw_of_name(std::string_view name) {
  if (const std::string_view flaw = flaw_of(name); !flaw.empty()) return flaw;
  if (name.starts_with("::")) name.remove_prefix(2);
  if (name.empty() || !may_begin(name.front())) return "it begins as no name does";
  int depth = 0;  // of template arguments
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (depth > 0 || c == '>' || may_begin(c) || (c >= '0' && c <= '9')) continue;
    // Two of them, then the name of what is inside.
    if (c != ':' || name.substr(i, 2) != "::" || i + 2 >= name.size() || !may_begin(name[i + 2])) {
      return "it holds what no name does";
    }
    ++i;
  }
  return {};
}

}  // namespace

// NOLINTNEXTLINE(modernize-use-string-view): callers build template arguments from it
std::string type_name(std::optional<DType> dtype) {
  if (!dtype) return "einkorn::none";
  switch (*dtype) {
    case DType::kF64:
      return "double";
    case DType::kF32:
      return "float";
    case DType::kF16:
      return "einkorn::f16";
    case DType::kBF16:
      return "einkorn::bf16";
    case DType::kF8E4M3:
      return "einkorn::f8e4m3";
    case DType::kF8E5M2:
      return "einkorn::f8e5m2";
    case DType::kI8:
      return "einkorn::i8";
    case DType::kU8:
      return "einkorn::u8";
    case DType::kI32:
      return "int";
    case DType::kI64:
      return "einkorn::i64";
    case DType::kBool:
      return "bool";
    default:
      throw_error(ErrorKind::kValue,
                  fmt::format("jit: template argument: expected a dtype of at least a byte with a "
                              "type in device code, got {}",
                              name(*dtype)));
  }
}

// NOLINTNEXTLINE(google-explicit-constructor): see the header
TemplateArgument::TemplateArgument(std::string text) : text_(std::move(text)) {
  const std::string_view flaw = flaw_of(text_);
  EK_CHECK(flaw.empty(), ErrorKind::kValue,
           fmt::format("jit: template argument: expected a type or a constant, got \"{}\": {}",
                       text_, flaw));
}

std::string instantiate(std::string_view name, const std::vector<TemplateArgument>& arguments) {
  const std::string_view flaw = flaw_of_name(name);
  EK_CHECK(flaw.empty(), ErrorKind::kValue,
           fmt::format("jit: template: expected the name of one, such as \"ns::k\", got \"{}\": {}",
                       name, flaw));
  EK_CHECK(arguments.empty() || !name.ends_with('>'), ErrorKind::kValue,
           fmt::format("jit: template: expected the name of one without arguments, got \"{}\"\n"
                       "  hint: the arguments are given once: in the expression, or as values",
                       name));
  std::string out(name);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    out += i == 0 ? "<" : ", ";
    out += arguments[i].text();
  }
  if (!arguments.empty()) out += '>';
  return out;
}

}  // namespace einkorn::jit
