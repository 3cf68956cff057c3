#include "src/jit/entry_names.h"

#include <cctype>

namespace einkorn::jit {
namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whether the two would be read otherwise without a blank between them: "unsigned int", "1 - -1".
bool join(char before, char after) {
  if (is_word(before) && is_word(after)) return true;
  return before == after && (before == '-' || before == '+' || before == '&');
}

}  // namespace

std::string normal_entry(std::string_view expression) {
  if (expression.find_first_of("\"'") != std::string_view::npos) return std::string(expression);
  std::string out;
  bool blank = false;
  for (const char c : expression) {
    if (is_blank(c)) {
      blank = true;
      continue;
    }
    if (!out.empty() && (out.back() == ',' || (blank && join(out.back(), c)))) out += ' ';
    out += c;
    blank = false;
  }
  return out;
}

}  // namespace einkorn::jit
