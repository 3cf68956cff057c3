#pragma once

// Changes of einkorn's sources by a verb: refused on a dirty tree, shown, or written.

#include <span>
#include <string>
#include <vector>

#include "cli/json.h"
#include "cli/version_verbs.h"
#include "src/versions/change.h"
#include "src/versions/source_tree.h"

namespace einkorn::cli {

/// The tree that the options name. Bad usage when there is none.
versions::SourceTree open_tree(const std::string& tree);

/// Exit(kFailed) that names some of what git says is changed.
void refuse_dirty(const versions::SourceTree& tree);

/// A run of one of the tree's scripts.
struct ScriptRun {
  bool ran = false;     ///< false: no Python here
  int status = -1;      ///< its exit status
  std::string text;     ///< what it wrote
  std::string command;  ///< as one would type it in the tree
};
/// By .venv's Python, otherwise the one of PATH; `words`: script and arguments.
ScriptRun run_script(const versions::SourceTree& tree, const std::vector<std::string>& words);

/// What a verb is about to do.
struct TreeWork {
  std::string verb;        ///< for messages: "clone"
  std::string made;        ///< variant or op
  std::string op_path;     ///< whose table of variants is to be in step: "ops/norm/rms_norm"
  std::string readme_row;  ///< what its README then says
  std::vector<std::string> notes;  ///< to know
  std::vector<std::string> next;   ///< to do
};

/// Refuses a dirty tree; prints the difference, or writes the changes, brings the README's table in
/// step, and prints what was written and what comes next. Returns the exit status.
int carry_out(const TreeOptions& options, const versions::SourceTree& tree, TreeWork work,
              std::span<const versions::FileChange> changes);

}  // namespace einkorn::cli
