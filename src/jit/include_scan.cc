// Finds include directives in a text without preprocessing it.

#include <cctype>

#include "src/jit/source_set.h"

namespace einkorn::jit {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Includes run() {
    bool line_start = true;  // nothing but blanks and comments since the last newline
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        line_start = true;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' || skip_continuation()) {
        at_ += c == '\\' ? 0 : 1;
      } else if (skip_comment()) {
        continue;
      } else if (line_start && (c == '#' || starts("%:"))) {
        at_ += c == '#' ? 1 : 2;  // %: is the other way to write it
        directive();
        line_start = false;
      } else {
        line_start = false;
        code(c);
      }
    }
    return std::move(found_);
  }

 private:
  bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  bool skip_continuation() {
    if (starts("\\\n")) return (at_ += 2, true);
    if (starts("\\\r\n")) return (at_ += 3, true);
    return false;
  }

  bool skip_comment() {
    if (starts("//")) {
      while (at_ < text_.size() && text_[at_] != '\n') {
        if (!skip_continuation()) ++at_;
      }
      return true;
    }
    if (!starts("/*")) return false;
    const std::size_t end = text_.find("*/", at_ + 2);
    at_ = end == std::string_view::npos ? text_.size() : end + 2;
    return true;
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == ' ' || text_[at_] == '\t') {
        ++at_;
      } else if (!skip_continuation() && !(starts("/*") && skip_comment())) {
        return;
      }
    }
  }

  std::string_view word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  /// word() with what continues it behind a backslash.
  std::string name_of_directive() {
    std::string name(word());
    while (skip_continuation()) name += word();
    return name;
  }

  void directive() {
    skip_blanks();
    const std::string name = name_of_directive();
    if (name == "include" || name == "include_next" || name == "import") {
      skip_blanks();
      mention();
    } else if (name == "if" || name == "elif") {
      condition();
    }
  }

  /// The rest of an #if: names within __has_include(...).
  void condition() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      if (skip_continuation() || skip_comment()) continue;
      if (std::isalpha(static_cast<unsigned char>(text_[at_])) == 0 && text_[at_] != '_') {
        ++at_;
        continue;
      }
      if (word() != "__has_include") continue;
      skip_blanks();
      if (at_ < text_.size() && text_[at_] == '(') {
        ++at_;
        skip_blanks();
        mention();
      }
    }
  }

  void mention() {
    if (at_ >= text_.size() || (text_[at_] != '"' && text_[at_] != '<')) {
      found_.computed |= !word().empty();
      return;
    }
    const bool quoted = text_[at_] == '"';
    const std::size_t begin = ++at_;
    const std::size_t end = text_.find_first_of(quoted ? "\"\n" : ">\n", begin);
    if (end == std::string_view::npos || text_[end] == '\n') return;
    found_.named.push_back({begin, end, quoted});
    at_ = end + 1;
  }

  void code(char c) {
    if (c == 'R' && starts("R\"")) {
      raw_string();
    } else if (c == '"' || (c == '\'' && !digit_before())) {
      literal(c);
    } else if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') {
      // As a whole, so that the R of a prefix is not taken out of an identifier.
      const std::string_view name = word();
      const bool raw = name == "LR" || name == "uR" || name == "UR" || name == "u8R";
      if (raw && starts("\"")) {
        --at_;
        raw_string();
      }
    } else {
      ++at_;
    }
  }

  /// A quote after a digit separates digits: 1'000.
  bool digit_before() const {
    return at_ > 0 && std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0;
  }

  void literal(char quote) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
  }

  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return static_cast<void>(++at_);
    std::string close = ")";
    close += text_.substr(at_ + 2, open - at_ - 2);
    close += '"';
    const std::size_t end = text_.find(close, open);
    at_ = end == std::string_view::npos ? text_.size() : end + close.size();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Includes found_;
};

}  // namespace

Includes find_includes(std::string_view text) { return Scanner(text).run(); }

}  // namespace einkorn::jit
