#include "src/versions/lexer.h"

#include <algorithm>
#include <string>

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::versions {
namespace {

constexpr bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

class Lexer {
 public:
  Lexer(std::string_view source, std::string_view file) : source_(source), file_(file) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) {
      const std::size_t begin = at_;
      const TokenKind kind = next();
      const std::string_view text = source_.substr(begin, at_ - begin);
      tokens_.push_back({kind, text, begin});
    }
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  TokenKind next() {
    const char c = peek();
    if (is_space(c)) return space();
    if (c == '/' && peek(1) == '/') return line_comment();
    if (c == '/' && peek(1) == '*') return block_comment();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (is_word(c)) return word();
    if (c == '"') return quoted('"', TokenKind::kString);
    if (c == '\'') return quoted('\'', TokenKind::kCharacter);
    if (c == '<' && after_include()) return header();
    ++at_;
    return TokenKind::kOther;
  }

  TokenKind space() {
    while (at_ < source_.size() && is_space(peek())) ++at_;
    return TokenKind::kSpace;
  }

  TokenKind line_comment() {
    while (at_ < source_.size() && peek() != '\n') {
      // A backslash before the end of the line continues the comment.
      at_ += peek() == '\\' && peek(1) == '\n' ? 2 : 1;
    }
    at_ = std::min(at_, source_.size());
    return TokenKind::kComment;
  }

  TokenKind block_comment() {
    const auto end = source_.find("*/", at_ + 2);
    if (end == std::string_view::npos) throw_without_end("comment");
    at_ = end + 2;
    return TokenKind::kComment;
  }

  /// A preprocessing number: 0x1p-24, 1'000, 1.5F.
  TokenKind number() {
    while (at_ < source_.size()) {
      const char c = peek();
      const bool exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
      if (exponent && (peek(1) == '+' || peek(1) == '-')) {
        at_ += 2;
      } else if (is_word(c) || c == '.' || (c == '\'' && is_word(peek(1)))) {
        ++at_;
      } else {
        break;
      }
    }
    return TokenKind::kNumber;
  }

  TokenKind word() {
    const std::size_t begin = at_;
    while (at_ < source_.size() && is_word(peek())) ++at_;
    const std::string_view text = source_.substr(begin, at_ - begin);
    const bool prefix = text == "L" || text == "u" || text == "U" || text == "u8";
    const bool raw = text == "R" || text == "LR" || text == "uR" || text == "UR" || text == "u8R";
    if (raw && peek() == '"') return raw_string();
    if (prefix && peek() == '"') return quoted('"', TokenKind::kString);
    if (prefix && peek() == '\'') return quoted('\'', TokenKind::kCharacter);
    return TokenKind::kIdentifier;
  }

  TokenKind raw_string() {
    const auto open = source_.find('(', at_);
    if (open == std::string_view::npos) throw_without_end("raw string");
    const std::string close = fmt::format("){}\"", source_.substr(at_ + 1, open - at_ - 1));
    const auto end = source_.find(close, open);
    if (end == std::string_view::npos) throw_without_end("raw string");
    at_ = end + close.size();
    return TokenKind::kString;
  }

  TokenKind quoted(char quote, TokenKind kind) {
    for (std::size_t i = at_ + 1; i < source_.size() && source_[i] != '\n'; ++i) {
      if (source_[i] == '\\') {
        ++i;
      } else if (source_[i] == quote) {
        at_ = i + 1;
        return kind;
      }
    }
    ++at_;
    return TokenKind::kOther;
  }

  bool after_include() const {
    const auto code = std::ranges::find_if(tokens_.rbegin(), tokens_.rend(), [](const Token& t) {
      return t.kind != TokenKind::kSpace || t.text.find('\n') != std::string_view::npos;
    });
    return code != tokens_.rend() && code->text == "include";
  }

  TokenKind header() {
    const auto end = source_.find_first_of(">\n", at_);
    if (end == std::string_view::npos || source_[end] == '\n') {
      ++at_;
      return TokenKind::kOther;
    }
    at_ = end + 1;
    return TokenKind::kHeader;
  }

  [[noreturn]] void throw_without_end(std::string_view what) const {
    const auto line = 1 + std::ranges::count(source_.substr(0, at_), '\n');
    throw_error(ErrorKind::kValue, fmt::format("{}:{}: a {} without an end", file_, line, what));
  }

  std::string_view source_, file_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(std::string_view source, std::string_view file) {
  return Lexer(source, file).run();
}

std::vector<Token> code_of(std::vector<Token> tokens) {
  std::erase_if(tokens, [](const Token& token) {
    return token.kind == TokenKind::kComment || token.kind == TokenKind::kSpace;
  });
  return tokens;
}

}  // namespace einkorn::versions
