#pragma once

// The verbs as data: names, help and how their arguments are declared.

#include <functional>
#include <span>
#include <string_view>

#include <CLI/CLI.hpp>

namespace einkorn::cli {

struct Verb {
  std::string_view name;
  std::string_view summary;
  std::string_view examples;
  /// Declares the arguments; the result runs the verb with what was parsed into them. Null for a
  /// group, whose next word is the verb.
  std::function<int()> (*setup)(CLI::App& app) = nullptr;
  std::span<const Verb> (*group)() = nullptr;
  /// For a verb whose arguments another program reads, --help as well; null for all others.
  int (*forward)(std::span<char*> arguments) = nullptr;
};

/// In the order of the help.
std::span<const Verb> all_verbs();

std::span<const Verb> jit_verbs();
std::span<const Verb> cache_verbs();
std::span<const Verb> new_verbs();

std::function<int()> set_up_pack(CLI::App& app);
std::function<int()> set_up_warmup(CLI::App& app);
std::function<int()> set_up_clangd(CLI::App& app);
std::function<int()> set_up_report(CLI::App& app);
std::function<int()> set_up_tune(CLI::App& app);
std::function<int()> set_up_predict(CLI::App& app);
std::function<int()> set_up_profile(CLI::App& app);

std::function<int()> set_up_clone(CLI::App& app);
std::function<int()> set_up_devlog(CLI::App& app);

}  // namespace einkorn::cli
