#pragma once

// A new op or a new variant, as the files that it takes: complete, and marked where its author goes
// on.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/versions/change.h"
#include "src/versions/source_tree.h"

namespace einkorn::versions {

/// What an author looks for in the files made here.
inline constexpr std::string_view kTodo = "TODO(you)";

struct Scaffold {
  std::string name;  ///< op, or id of the variant
  std::vector<FileChange> changes;
};

/// A new op `<family>/<name>`: y = scale * x, which builds, is checked and can be called at once.
/// Writes nothing. ValueError: a name that is no snake_case word, or one that is taken.
Scaffold plan_op(const SourceTree& tree, std::string_view name);

/// A new variant `<op>/<arch>/<design>`, version 1. It is listed, compiles, and refuses every
/// problem until it is written. Writes nothing. ValueError: unknown op or arch, a name that is no
/// snake_case word, or a design that is there (clone it), or a contract whose struct is not found.
Scaffold plan_variant(const SourceTree& tree, std::string_view name);

using Replacements = std::vector<std::pair<std::string_view, std::string>>;

/// `text` with each @name@ replaced; a template's own faults are internal errors.
std::string fill_template(std::string_view text, const Replacements& values);

/// "SoftMax" of "struct SoftMax { static constexpr std::string_view kName": the struct of the
/// contract. Empty when there is none.
std::string contract_struct(std::string_view source, std::string_view file);

}  // namespace einkorn::versions
