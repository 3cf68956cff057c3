#include "src/jit/include_options.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "src/core/environment.h"

namespace einkorn::jit {
namespace {

constexpr std::array<std::string_view, 4> kFolderOptions{"--include-path", "-include-path",
                                                         "-isystem", "-I"};
constexpr std::array<std::string_view, 10> kFileOptions{
    "-include", "--include", "--pre-include", "-pre-include", "--options-file",
    "-optf",    "@",         "--use-pch=",    "-use-pch=",    "-imacros"};

/// What follows the option's name in its word; nothing: it is another option. The short ones take
/// their value at once, those with two dashes behind a '='.
std::optional<std::string_view> value_of(std::string_view option, std::string_view name) {
  if (!option.starts_with(name)) return std::nullopt;
  option.remove_prefix(name.size());
  const bool at_once = name == "-I" || name == "-isystem";
  if (!at_once && !option.empty() && option.front() != '=' && option.front() != ' ') {
    return std::nullopt;
  }
  option.remove_prefix(std::min(option.find_first_not_of("= "), option.size()));
  return option;
}

std::optional<std::string_view> folder_of(std::string_view option) {
  for (const std::string_view name : kFolderOptions) {
    if (const auto value = value_of(option, name)) return value;
  }
  return std::nullopt;
}

bool names_a_file(std::string_view option) {
  if (folder_of(option)) return false;
  return std::ranges::any_of(kFileOptions, [&](std::string_view name) {
    return option.starts_with(name) &&
           (name.ends_with('=') || name == "@" || value_of(option, name).has_value());
  });
}

}  // namespace

std::vector<std::string> take_include_folders(std::vector<std::string>& options) {
  std::vector<std::string> folders, rest;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto folder = folder_of(options[i]);
    if (folder && !folder->empty()) {
      folders.emplace_back(*folder);
    } else if (folder && i + 1 < options.size()) {
      folders.push_back(options[++i]);
    } else {
      rest.push_back(options[i]);
    }
  }
  options = std::move(rest);
  return folders;
}

std::string option_that_reads(const std::vector<std::string>& options) {
  const auto found = std::ranges::find_if(options, names_a_file);
  return found == options.end() ? std::string() : *found;
}

std::string search_variables() {
  constexpr std::array kVariables{"CPATH",
                                  "C_INCLUDE_PATH",
                                  "CPLUS_INCLUDE_PATH",
                                  "CCC_OVERRIDE_OPTIONS",
                                  "NVCC_PREPEND_FLAGS",
                                  "NVCC_APPEND_FLAGS"};
  std::string out;
  for (const char* name : kVariables) {
    const std::string value = environment(name);
    if (!value.empty()) out += fmt::format(", {} {}", name, value);
  }
  return out;
}

}  // namespace einkorn::jit
