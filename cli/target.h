#pragma once

// What the user names: ops, variants, problems and devices.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/registry.h>

namespace einkorn::cli {

/// `<op>` or `<op>/<variant>`.
struct Target {
  const OpEntry* entry = nullptr;
  const Variant* variant = nullptr;  ///< null: none named

  std::string_view op() const { return entry->op->name; }
  /// As explain() takes a choice: empty when none is named.
  std::string choice() const { return variant ? variant->name() : std::string(); }
};

/// Positional words sorted into names and key=value pairs.
struct Words {
  std::vector<std::string> targets;
  KeyValues pairs;
};

/// Bad usage: a key given twice, or without a name.
Words split_words(const std::vector<std::string>& words);

/// Bad usage: unknown op or variant (with the nearest and all that exist).
Target find_target(const Registry& registry, std::string_view word);

/// Exactly one target. Bad usage otherwise; `verb` is for the message.
Target only_target(const Registry& registry, const Words& words, std::string_view verb);

/// Bad usage: unknown key, value that does not parse or is out of range.
AnyProblem parse_problem(const Target& target, const KeyValues& pairs);

/// A device that is here; empty: the best. Bad usage for a name that is none, Exit(kNothingRan)
/// with the reason for one that is not here.
Device find_device(std::string_view name);

/// A device that is here or one from the table; empty: the best here.
DeviceInfo describe_device(std::string_view name);

/// A problem with the name it is reported under.
struct NamedProblem {
  std::string name;
  AnyProblem problem;
};

/// The op's cases of these levels, both inclusive.
std::vector<NamedProblem> cases_of_levels(const Target& target, int lowest, int highest);

/// The problems to measure: the pairs when there are some, otherwise the cases of these names,
/// otherwise the op's bench set: its cases named bench*, and if it has none those of level 1, on a
/// GPU also of level 2. Bad usage: pairs and names together, an unknown name.
std::vector<NamedProblem> bench_problems(const Target& target, const KeyValues& pairs,
                                         std::span<const std::string> cases, DeviceKind kind);

/// Name under which a problem given by key=value pairs is reported.
inline constexpr std::string_view kCommandLine = "command line";

}  // namespace einkorn::cli
