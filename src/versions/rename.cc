#include "src/versions/rename.h"

#include <algorithm>
#include <cctype>
#include <span>

#include <fmt/format.h>

#include "src/versions/lexer.h"

namespace einkorn::versions {
namespace {

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Replaces `from` by `to` wherever `fits(character before, character after)`; '\0' stands for an
/// end of the word.
template <class Fits>
std::string replace_parts(std::string word, const std::string& from, const std::string& to,
                          Fits&& fits) {
  for (std::size_t at = word.find(from); at != std::string::npos; at = word.find(from, at)) {
    const char before = at == 0 ? '\0' : word[at - 1];
    const std::size_t end = at + from.size();
    if (!fits(before, end < word.size() ? word[end] : '\0')) {
      at = end;
      continue;
    }
    word.replace(at, from.size(), to);
    at += to.size();
  }
  return word;
}

/// The name before a separator that ends at `at`, and where it begins.
struct Qualifier {
  std::string_view name;
  std::size_t begin = 0;
};

Qualifier qualifier_before(std::string_view text, std::size_t at) {
  std::size_t end = at;
  if (end >= 1 && text[end - 1] == '/') {
    end -= 1;
  } else if (end >= 2 && text.substr(end - 2, 2) == "::") {
    end -= 2;
  } else {
    return {};
  }
  std::size_t begin = end;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  return {text.substr(begin, end - begin), begin};
}

/// Whether the word at `at` is said of another arch or op.
bool belongs_elsewhere(std::string_view text, std::size_t at, const Rename& rename) {
  const Qualifier arch = qualifier_before(text, at);
  if (arch.name.empty()) return false;
  if (contains(rename.other_arches, arch.name) || contains(rename.other_ops, arch.name)) {
    return true;
  }
  return contains(rename.other_ops, qualifier_before(text, arch.begin).name);
}

/// Every word of text[begin, end).
void rename_words(std::string_view text, std::size_t begin, std::size_t end, const Rename& rename,
                  std::string& out) {
  std::size_t at = begin;
  while (at < end) {
    if (!is_word(text[at])) {
      // The letter of an escape sequence belongs to no word.
      const bool escape = text[at] == '\\' && at + 1 < end;
      out += text[at++];
      if (escape) out += text[at++];
      continue;
    }
    const std::size_t from = at;
    while (at < end && is_word(text[at])) ++at;
    const std::string_view word = text.substr(from, at - from);
    out +=
        belongs_elsewhere(text, from, rename) ? std::string(word) : rename_identifier(word, rename);
  }
}

std::string literal(std::string_view text) { return fmt::format("\"{}\"", text); }

/// Offsets of the version in each make_variant<...>("<arch>", "<design>", <version>.
std::vector<std::size_t> registrations(std::span<const Token> code, const Rename& rename,
                                       int version) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i].text != "make_variant") continue;
    std::size_t at = i + 1;
    int depth = 0;
    for (; at < code.size(); ++at) {
      depth += code[at].text == "<" ? 1 : code[at].text == ">" ? -1 : 0;
      if (depth == 0) break;
    }
    if (at + 6 >= code.size()) continue;
    const auto said = [&](std::size_t ahead) { return code[at + ahead].text; };
    if (said(1) == "(" && said(2) == literal(rename.arch) && said(3) == "," &&
        said(4) == literal(rename.design) && said(5) == "," && said(6) == std::to_string(version)) {
      found.push_back(code[at + 6].offset);
    }
  }
  return found;
}

/// Lines of // that `source` begins with: where they end.
std::size_t head_end(std::string_view source) {
  std::size_t at = 0;
  while (source.substr(at).starts_with("//")) {
    const auto end = source.find('\n', at);
    if (end == std::string_view::npos) return source.size();
    at = end + 1;
  }
  return at;
}

/// The paragraphs of a comment of // lines; each line without its end.
std::vector<std::vector<std::string>> paragraphs(std::string_view head) {
  std::vector<std::vector<std::string>> out(1);
  while (!head.empty()) {
    const auto end = std::min(head.find('\n'), head.size() - 1);
    std::string line(head.substr(0, end + 1));
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    head.remove_prefix(end + 1);
    if (line == "//") {
      out.emplace_back();
    } else {
      out.back().push_back(std::move(line));
    }
  }
  std::erase_if(out, [](const auto& paragraph) { return paragraph.empty(); });
  return out;
}

bool is_about_before(const std::vector<std::string>& paragraph) {
  return paragraph.front().starts_with("// Best:") ||
         paragraph.front().starts_with("// Changed since ");
}

}  // namespace

std::string stem(std::string_view design, int version) {
  return fmt::format("{}_v{}", design, version);
}

std::string type_name(std::string_view snake) {
  std::string out;
  bool first = true;
  for (const char c : snake) {
    if (c == '_') {
      first = true;
      continue;
    }
    out += first ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    first = false;
  }
  return out;
}

std::string rename_identifier(std::string_view word, const Rename& rename) {
  const std::string from = stem(rename.design, rename.from);
  const std::string to = stem(rename.design, rename.to);
  const auto between_underscores = [](char before, char after) {
    return (before == '\0' || before == '_') && (after == '\0' || after == '_');
  };
  // A type's name ends where another capital begins: RowsV1Tile, not RowsV12 or RowsV1a.
  const auto between_capitals = [](char before, char after) {
    return !is_upper(before) && (after == '\0' || after == '_' || is_upper(after));
  };
  std::string out = replace_parts(std::string(word), from, to, between_underscores);
  out = replace_parts(std::move(out), upper(from), upper(to), between_underscores);
  return replace_parts(std::move(out), type_name(from), type_name(to), between_capitals);
}

std::string rename_source(std::string_view source, std::string_view file, const Rename& rename) {
  const std::vector<Token> tokens = lex(source, file);
  const auto versions = registrations(code_of(tokens), rename, rename.from);
  std::string out;
  for (const Token& token : tokens) {
    if (std::ranges::find(versions, token.offset) != versions.end()) {
      out += std::to_string(rename.to);
      continue;
    }
    switch (token.kind) {
      case TokenKind::kIdentifier:
      case TokenKind::kString:
      case TokenKind::kComment:
      case TokenKind::kHeader:
        rename_words(source, token.offset, token.offset + token.text.size(), rename, out);
        break;
      default:
        out += token.text;
    }
  }
  return out;
}

int count_registrations(std::string_view source, std::string_view file, const Rename& rename,
                        int version) {
  return static_cast<int>(registrations(code_of(lex(source, file)), rename, version).size());
}

std::string restart_head(std::string_view source, int from) {
  const std::size_t end = head_end(source);
  std::string out;
  for (const auto& paragraph : paragraphs(source.substr(0, end))) {
    if (is_about_before(paragraph)) continue;
    for (const std::string& line : paragraph) out += line + '\n';
    out += "//\n";
  }
  out += fmt::format("// Changed since v{}: nothing yet.\n", from);
  if (end == 0) out += '\n';
  return out + std::string(source.substr(end));
}

std::string changes_told(std::string_view source) {
  for (const auto& paragraph : paragraphs(source.substr(0, head_end(source)))) {
    if (!paragraph.front().starts_with("// Changed since ")) continue;
    std::string out;
    for (const std::string& line : paragraph) {
      const auto text = line.find_first_not_of("/ ");
      if (text != std::string::npos) out += (out.empty() ? "" : " ") + line.substr(text);
    }
    const auto colon = out.find(": ");
    return colon == std::string::npos ? std::string() : out.substr(colon + 2);
  }
  return {};
}

}  // namespace einkorn::versions
