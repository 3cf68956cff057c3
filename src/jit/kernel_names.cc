#include "src/jit/kernel_names.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace einkorn::jit {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The source with blanks in place of comments.
std::string without_comments(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view rest = source.substr(at);
    const bool line = rest.starts_with("//");
    if (!line && !rest.starts_with("/*")) {
      out += source[at++];
      continue;
    }
    const std::size_t end = line ? rest.find('\n') : rest.find("*/", 2);
    out += ' ';
    at = end == std::string_view::npos ? source.size() : at + end + (line ? 0 : 2);
  }
  return out;
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

/// The word at `at`, empty where none begins.
std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(at, end - at);
}

/// Behind the bracket that closes the one at `at`, or npos.
std::size_t behind_closing(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

/// Attributes of a kernel that take arguments and so look like its name: __launch_bounds__(256).
bool is_attribute(std::string_view word) { return word.starts_with("__") && word.ends_with("__"); }

/// The name in front of the parameters of the kernel whose __global__ ends at `at`; empty: none.
std::string_view name_behind(std::string_view text, std::size_t at) {
  std::string_view word;
  while (at < text.size()) {
    at = skip_blanks(text, at);
    if (at == text.size()) break;
    const char c = text[at];
    if (is_word(c)) {
      word = word_at(text, at);
      at += word.size();
    } else if (c == '(') {
      if (!is_attribute(word)) return word;
      at = behind_closing(text, at);
    } else if (c == ';' || c == '{' || c == '}') {
      break;
    } else {
      ++at;
    }
  }
  return {};
}

/// "<class T, int N>" of the template whose head ends before `at`, blanks and other words of the
/// declaration aside; empty for what is no template.
std::string parameters_before(std::string_view text, std::size_t at) {
  const std::size_t before = text.substr(0, at).find_last_of(";{}>");
  if (before == std::string_view::npos || text[before] != '>') return {};
  int depth = 0;
  for (std::size_t i = before + 1; i-- > 0;) {
    if (text[i] == '>') ++depth;
    if (text[i] != '<' || --depth > 0) continue;
    std::string_view head = text.substr(0, i);
    while (!head.empty() && std::isspace(static_cast<unsigned char>(head.back())) != 0) {
      head.remove_suffix(1);
    }
    if (!head.ends_with("template")) return {};
    return std::string(text.substr(i, before + 1 - i));
  }
  return {};
}

/// The name of the function whose "void" ends at `at`, if it is defined there; empty: none is.
std::string_view defined_behind(std::string_view text, std::size_t at) {
  const std::size_t begin = skip_blanks(text, at);
  const std::string_view name = word_at(text, begin);
  std::size_t next = skip_blanks(text, begin + name.size());
  if (begin == at || name.empty() || next >= text.size() || text[next] != '(') return {};
  next = behind_closing(text, next);
  if (next == std::string_view::npos) return {};
  next = skip_blanks(text, next);
  if (word_at(text, next) == "noexcept") next = skip_blanks(text, next + 8);
  return next < text.size() && text[next] == '{' ? name : std::string_view();
}

/// f(at) behind each place where the mark stands as a word.
template <class F>
void for_each_word(std::string_view text, std::string_view mark, F&& f) {
  for (std::size_t at = text.find(mark); at != std::string_view::npos;
       at = text.find(mark, at + 1)) {
    const std::size_t end = at + mark.size();
    if ((at > 0 && is_word(text[at - 1])) || (end < text.size() && is_word(text[end]))) continue;
    f(at, end);
  }
}

void add_new(std::vector<std::string>& names, std::string name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
}

}  // namespace

std::vector<std::string> kernel_names(std::string_view source) {
  const std::string text = without_comments(source);
  std::vector<std::string> out;
  for_each_word(text, "__global__", [&](std::size_t begin, std::size_t end) {
    const std::string_view name = name_behind(text, end);
    if (!name.empty()) add_new(out, std::string(name) + parameters_before(text, begin));
  });
  return out;
}

std::vector<std::string> function_names(std::string_view source) {
  const std::string text = without_comments(source);
  std::vector<std::string> out;
  for_each_word(text, "void", [&](std::size_t, std::size_t end) {
    const std::string_view name = defined_behind(text, end);
    if (!name.empty()) add_new(out, std::string(name));
  });
  return out;
}

}  // namespace einkorn::jit
