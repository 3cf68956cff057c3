#include "src/jit/depfile.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Behind the colon that ends the rule's target.
std::string_view behind_target(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ':' && (i + 1 == text.size() || is_space(text[i + 1]))) {
      return text.substr(i + 1);
    }
  }
  return {};
}

/// Reads the run of backslashes at `at` and what they escape; `at` goes behind both. False when
/// they end the word: the line goes on in the next one.
bool take_backslashes(std::string_view text, std::size_t& at, std::string& word) {
  std::size_t count = 0;
  while (at < text.size() && text[at] == '\\') ++count, ++at;
  const char next = at < text.size() ? text[at] : '\n';
  if (next != ' ' && next != '\t' && next != '#' && next != '\n' && next != '\r') {
    word.append(count, '\\');  // they mean themselves
    return true;
  }
  word.append(count / 2, '\\');
  if (count % 2 == 0) return true;
  if (next == '\n' || next == '\r') return false;
  word += next;
  ++at;
  return true;
}

}  // namespace

std::vector<std::string> parse_depfile(std::string_view text) {
  text = behind_target(text);
  std::vector<std::string> out;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) out.push_back(std::exchange(word, {}));
  };
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\\') {
      if (!take_backslashes(text, at, word)) {
        end_word();
        at = std::min(text.find('\n', at), text.size() - 1) + 1;
      }
    } else if (text[at] == '\n') {
      break;  // of the rule; -MP adds further ones without prerequisites
    } else if (is_space(text[at])) {
      end_word();
      ++at;
    } else {
      if (text.substr(at, 2) == "$$") ++at;
      word += text[at++];
    }
  }
  end_word();
  return out;
}

std::vector<std::string> dependencies_outside(std::string_view depfile, const std::string& folder,
                                              const std::string& scratch) {
  std::vector<std::string> out;
  for (const std::string& word : parse_depfile(depfile)) {
    const fs::path path = fs::path(folder) / word;
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    std::string name = error ? path.lexically_normal().string() : real.string();
    if (!name.starts_with(scratch + "/")) out.push_back(std::move(name));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace einkorn::jit
