#pragma once

// C++ and CUDA sources cut into tokens, so that a rewrite knows a name from a word in a comment.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace einkorn::versions {

enum class TokenKind : std::uint8_t {
  kIdentifier,  ///< keywords and names of directives included
  kNumber,
  kString,     ///< with its prefix and quotes; raw ones, too
  kCharacter,  ///< with its quotes
  kComment,    ///< with its marks; a line's without the end of the line
  kHeader,     ///< <...> after #include
  kSpace,
  kOther,  ///< one character
};

struct Token {
  TokenKind kind;
  std::string_view text;
  std::size_t offset;  ///< of its first character in the source
};

/// All of `source`, in order: the texts joined are the source again. They point into it. A quote
/// that is not closed on its line is a token of its own, as in the text of an #error. ValueError
/// with `file` and line: a comment or raw string has no end.
std::vector<Token> lex(std::string_view source, std::string_view file);

/// May stand inside of an identifier: letters, digits, underscores.
constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Without what is no code: comments and space.
std::vector<Token> code_of(std::vector<Token> tokens);

}  // namespace einkorn::versions
