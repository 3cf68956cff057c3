#include "cli/tree_changes.h"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/status.h"
#include "cli/terminal.h"
#include "src/core/subprocess.h"

namespace einkorn::cli {
namespace {

constexpr std::string_view kFix = "scripts/lint_tree.py --fix";

std::string python_of(const versions::SourceTree& tree) {
  std::string own = tree.full(".venv/bin/python3");
  if (subprocess::is_program(own)) return own;
  return subprocess::find_program("python3").value_or("");
}

/// The table of variants, by the same code that the lint checks it with. The script's status tells
/// of the whole tree, so the README is looked at instead. Returns what is left to do.
std::string fix_table(const versions::SourceTree& tree, const TreeWork& work) {
  const ScriptRun run = run_script(tree, {"scripts/lint_tree.py", "--fix"});
  const std::string readme = work.op_path + "/README.md";
  if (run.ran && tree.has(readme) && tree.read(readme).find(work.readme_row) != std::string::npos) {
    return {};
  }
  return fmt::format("{}  (the table of variants in {} is not in step{})", kFix, readme,
                     run.ran ? "" : ": no python3 here");
}

Json files_json(std::span<const versions::FileChange> changes) {
  Json out = Json::array();
  for (const auto& change : changes)
    out.push_back({{"path", change.path}, {"new", !change.before}});
  return out;
}

void report(const TreeOptions& options, const TreeWork& work,
            std::span<const versions::FileChange> changes, const std::string& diff) {
  if (options.json) {
    print_json({{"made", work.made},
                {"written", !options.dry_run},
                {"files", files_json(changes)},
                {"diff", text_or_null(diff)},
                {"notes", work.notes},
                {"next", work.next}});
    return;
  }
  std::string text;
  if (options.dry_run) {
    text = diff + fmt::format("\n{} was not made: --dry-run\n", work.made);
  } else {
    for (const auto& change : changes) {
      text += fmt::format("{}  {}\n", change.before ? "changed" : "new    ", change.path);
    }
    text += fmt::format("\nmade {}\n", work.made);
  }
  for (const std::string& note : work.notes) text += fmt::format("note: {}\n", note);
  if (!options.dry_run) text += fmt::format("next:\n  {}\n", fmt::join(work.next, "\n  "));
  print(text);
}

}  // namespace

versions::SourceTree open_tree(const std::string& tree) {
  return as_usage([&] {
    if (!tree.empty()) return versions::SourceTree(tree);
    return versions::SourceTree::around(std::filesystem::current_path().string());
  });
}

void refuse_dirty(const versions::SourceTree& tree) {
  const std::vector<std::string> changes = tree.changes();
  if (changes.empty()) return;
  constexpr std::size_t kShown = 5;
  std::string shown;
  for (std::size_t i = 0; i < changes.size() && i < kShown; ++i) shown += "\n  " + changes[i];
  if (changes.size() > kShown) shown += fmt::format("\n  and {} more", changes.size() - kShown);
  throw Exit(kFailed,
             fmt::format("{}: expected a tree without changes, got {} of them:{}\n"
                         "  hint: commit first, so that what is made here can be told from "
                         "the rest; or --allow-dirty",
                         tree.root(), changes.size(), shown));
}

ScriptRun run_script(const versions::SourceTree& tree, const std::vector<std::string>& words) {
  ScriptRun out;
  out.command = fmt::format("{}", fmt::join(words, " "));
  const std::string python = python_of(tree);
  if (python.empty()) return out;
  std::vector<std::string> argv{python, tree.full(words.at(0))};
  argv.insert(argv.end(), words.begin() + 1, words.end());
  subprocess::Options options;
  options.working_folder = tree.root();
  options.environment = {"PYTHONDONTWRITEBYTECODE=1"};
  const subprocess::Result result = subprocess::run(argv, options);
  out.ran = true;
  out.status = result.exit_status;
  out.text = result.output + result.errors;
  return out;
}

int carry_out(const TreeOptions& options, const versions::SourceTree& tree, TreeWork work,
              std::span<const versions::FileChange> changes) {
  if (!options.allow_dirty) refuse_dirty(tree);
  if (options.dry_run) {
    work.notes.push_back(
        fmt::format("the table in {}/README.md follows by {}", work.op_path, kFix));
    report(options, work, changes, versions::unified_diff(changes));
    return kAllWell;
  }
  versions::write_changes(tree.root(), changes);
  const std::string left = fix_table(tree, work);
  if (!left.empty()) work.next.insert(work.next.begin(), left);
  report(options, work, changes, {});
  return kAllWell;
}

}  // namespace einkorn::cli
