#include "cli/command.h"

#include <functional>
#include <span>

#include <einkorn/version.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/profile.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "cli/verb_table.h"
#include "src/registry/suggest.h"
#include "src/tune/worker.h"

namespace einkorn::cli {
namespace {

std::string main_help() {
  std::string out =
      "einkorn: compute kernels from contract to measured variant\n\n"
      "Usage: einkorn <verb> [arguments] [--json]\n\nVerbs:\n";
  for (const Verb& verb : all_verbs()) {
    out += fmt::format("  {:<8} {}\n", verb.name, verb.summary);
  }
  out +=
      "\nOptions:\n"
      "  --help     this text; after a verb, its own\n"
      "  --version  version and commit\n"
      "\nExamples:\n"
      "  einkorn run rms_norm\n"
      "  einkorn explain rms_norm rows=16384 cols=4096 dtype=bf16 --device h100\n"
      "  einkorn check rms_norm --level 1\n"
      "\nExit status: 0 all well, 1 something failed, 2 bad usage, 3 nothing could run here.\n";
  return out;
}

const Verb& find_verb(std::span<const Verb> verbs, std::string_view of, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Verb& verb : verbs) {
    if (verb.name == name) return verb;
    names.push_back(verb.name);
  }
  throw Exit(kBadUsage, fmt::format("{}: {}", of, expected_one_of(name, names)));
}

std::string group_help(const Verb& group) {
  std::string out = fmt::format("einkorn {0}: {1}\n\nUsage: einkorn {0} <verb> [arguments]\n\n",
                                group.name, group.summary);
  for (const Verb& verb : group.group()) {
    out += fmt::format("  {:<12} {}\n", verb.name, verb.summary);
  }
  return out + fmt::format("\nExamples:\n{}", group.examples);
}

[[noreturn]] void throw_unexpected(const CLI::App& app, const std::string& word) {
  if (!word.starts_with('-')) {
    throw Exit(kBadUsage, fmt::format("{0}: unexpected argument '{1}'\n  hint: {0} --help",
                                      app.get_name(), word));
  }
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) known.push_back(option->get_name());
  }
  const std::vector<std::string_view> views(known.begin(), known.end());
  throw Exit(kBadUsage, fmt::format("{} option: {}", app.get_name(), expected_one_of(name, views)));
}

bool asks_for_help(std::string_view word) { return word == "--help" || word == "-h"; }

/// `arguments` begin with the verb itself.
int run_verb(const Verb& verb, const std::string& title, std::span<char*> arguments) {
  if (verb.forward != nullptr) return verb.forward(arguments.subspan(1));
  if (verb.group != nullptr) {
    if (arguments.size() < 2) {
      fmt::print(stderr, "{}", group_help(verb));
      return kBadUsage;
    }
    if (asks_for_help(arguments[1])) {
      print(group_help(verb));
      return kAllWell;
    }
    const Verb& inner = find_verb(verb.group(), verb.name, arguments[1]);
    return run_verb(inner, fmt::format("{} {}", title, inner.name), arguments.subspan(1));
  }
  CLI::App app(fmt::format("{}: {}", title, verb.summary), title);
  app.set_help_flag("-h,--help", "this text");
  app.footer(fmt::format("Examples:\n{}", verb.examples));
  app.allow_extras();
  const std::function<int()> body = verb.setup(app);
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    return kAllWell;
  } catch (const CLI::ParseError& error) {
    throw Exit(kBadUsage, fmt::format("{}: {}\n  hint: {} --help", title, error.what(), title));
  }
  for (const std::string& word : app.remaining()) throw_unexpected(app, word);
  return body();
}

int run_named(std::span<char*> arguments) {
  const Verb& verb = find_verb(all_verbs(), "verb", arguments[0]);
  return run_verb(verb, fmt::format("einkorn {}", verb.name), arguments);
}

int parse_and_run(std::span<char*> arguments) {
  if (arguments.size() < 2) {
    fmt::print(stderr, "{}", main_help());
    return kBadUsage;
  }
  const std::string_view first = arguments[1];
  if (asks_for_help(first) || (first == "help" && arguments.size() < 3)) {
    print(main_help());
    return kAllWell;
  }
  if (first == "help") {
    // "help jit run" is "jit run --help".
    std::string help = "--help";
    std::vector<char*> rewritten(arguments.begin() + 2, arguments.end());
    rewritten.push_back(help.data());
    return run_named(rewritten);
  }
  if (first == "--version") {
    print(fmt::format("einkorn {} ({})\n", version(), git_commit()));
    return kAllWell;
  }
  // The process in which `tune` measures; no verb for people.
  if (first == "tune-worker") return tune::serve_standard();
  // The process that `profile --mode counters` lets ncu look into; no verb for people.
  if (first == "profile-run") return profile_run(arguments.subspan(2));
  return run_named(arguments.subspan(1));
}

/// A value that the user gave by a variable, wherever it was read: those messages begin with its
/// name.
bool is_of_environment(const Error& error) {
  return error.kind() == ErrorKind::kValue &&
         std::string_view(error.what()).starts_with("EINKORN_");
}

}  // namespace

int command(int argc, char** argv) {
  try {
    return parse_and_run({argv, static_cast<std::size_t>(argc)});
  } catch (const Exit& exit) {
    fmt::print(stderr, "einkorn: error: {}\n", exit.what());
    return exit.status();
  } catch (const Error& error) {
    fmt::print(stderr, "einkorn: error: {}\n", error.what());
    if (is_of_environment(error)) return kBadUsage;
    return error.kind() == ErrorKind::kNotImplemented ? kNothingRan : kFailed;
  } catch (const Interrupted&) {
    return kInterrupted;
  } catch (const std::exception& error) {
    fmt::print(stderr, "einkorn: error: {}\n", error.what());
    return kFailed;
  }
}

}  // namespace einkorn::cli
