#include "src/jit/compile_entries.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/core/file.h"
#include "src/jit/cpu_entry.h"
#include "src/jit/kernel_names.h"
#include "src/jit/source_folder.h"
#include "src/jit/source_set.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;

/// The request for the functions that call the expressions, which go behind the source.
Request with_entry_functions(Request request) {
  if (request.source.empty()) {
    const fs::path file = request.file;
    if (const EmbeddedSource* embedded = find_embedded(request.file)) {
      request.source = std::string(embedded->text);
    } else {
      request.source = fmt::format("#include \"{}\"", file.filename().string());
      request.include_dirs.insert(request.include_dirs.begin(),
                                  fs::absolute(file).parent_path().string());
    }
    request.file = file.stem().string() + ".entry.cc";
  }
  const std::vector<std::string> expressions = request.instantiate;
  std::vector<std::string> symbols;
  symbols.reserve(expressions.size());
  for (std::size_t i = 0; i < expressions.size(); ++i) symbols.push_back(entry_symbol(i));
  request.source += '\n' + entry_functions(expressions);
  request.instantiate = symbols;
  return request;
}

std::string text_of(const Request& request) {
  if (!request.source.empty()) return request.source;
  const EmbeddedSource* embedded = find_embedded(request.file);
  return embedded != nullptr ? std::string(embedded->text) : read_file(request.file).text;
}

/// The expression that an error is of, by the file that its function is said to be in.
std::optional<std::size_t> expression_of(std::string_view message, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::string begin = "jit: " + entry_symbol(i);
    if (message.starts_with(begin + "(") || message.starts_with(begin + ":")) return i;
  }
  return std::nullopt;
}

std::string_view hint_of(std::string_view message) {
  for (const std::string_view mark :
       {"unresolved overloaded", "overloaded function", "no matching function"}) {
    if (message.find(mark) == std::string_view::npos) continue;
    return "a template is named with its arguments, \"k<float>\", in Python also entry=\"k\", "
           "template=('f32',)";
  }
  return "the entry names a function that returns void, with its namespace and what <> holds";
}

/// The lines without the compiler's hint, which knows nothing of entries.
std::string without_hints(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    if (!line.starts_with("  hint:")) out += fmt::format("\n{}", line);
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

/// What the compiler says of an expression is of a function of ours that calls it.
std::string told(const std::string& message, const Request& request, std::string_view who) {
  constexpr std::string_view kError = ": error: ";
  constexpr std::string_view kAssertion = "static assertion failed: ";
  const std::vector<std::string>& expressions = request.instantiate;
  const auto wrong = expression_of(message, expressions.size());
  const std::size_t mark = message.find(kError);
  if (!wrong || mark == std::string::npos) return message;
  std::string_view first = std::string_view(message).substr(mark + kError.size());
  const std::size_t end = std::min(first.find('\n'), first.size());
  const std::string context = without_hints(first.substr(std::min(end + 1, first.size())));
  first = first.substr(0, end);
  if (first.starts_with(kAssertion)) first.remove_prefix(kAssertion.size());
  const std::vector<std::string> found = function_names(text_of(request));
  return fmt::format(
      "{}: expected a function of {}, got \"{}\": {}{}\n  hint: {}{}", who,
      request.source.empty() ? request.file : "the source", expressions[*wrong], first,
      found.empty() ? std::string()
                    : fmt::format("\n  functions found there: {}", fmt::join(found, ", ")),
      hint_of(first), context);
}

}  // namespace

Program compile_entries(const Request& request, std::string_view who) {
  try {
    return compile(with_entry_functions(request));
  } catch (const Error& error) {
    std::string text = told(error.what(), request, who);
    const std::vector<std::string>& expressions = request.instantiate;
    // The last first: the symbol of 1 begins that of 10.
    for (std::size_t i = expressions.size(); i-- > 0;) {
      replace_all(text, entry_symbol(i), expressions[i]);
    }
    throw Error(error.kind(), text);
  }
}

}  // namespace einkorn::jit
