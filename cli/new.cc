// einkorn new: an op or a variant to start from.

#include <fmt/format.h>

#include "cli/status.h"
#include "cli/tree_changes.h"
#include "src/versions/scaffold.h"

namespace einkorn::cli {

int new_op(const NewOptions& options) {
  const versions::SourceTree tree = open_tree(options.tree.tree);
  const auto scaffold = as_usage([&] { return versions::plan_op(tree, options.name); });
  TreeWork work;
  work.verb = "new op";
  work.made = scaffold.name;
  work.op_path = "ops/" + options.name;
  work.readme_row = "| `cpu/reference_v1` |";
  work.notes = {"it computes y = scale * x until its contract says otherwise"};
  work.next = {"make build", fmt::format("build/einkorn check {}", scaffold.name),
               fmt::format("go through {} in {}", versions::kTodo, work.op_path),
               ".venv/bin/python -m pytest tests/cli -k list_ops --update-golden"};
  return carry_out(options.tree, tree, std::move(work), scaffold.changes);
}

int new_variant(const NewOptions& options) {
  const versions::SourceTree tree = open_tree(options.tree.tree);
  const auto scaffold = as_usage([&] { return versions::plan_variant(tree, options.name); });
  const auto slash = scaffold.name.find('/');
  const std::string op = scaffold.name.substr(0, slash);
  TreeWork work;
  work.verb = "new variant";
  work.made = scaffold.name;
  work.op_path = tree.find_op(op).path();
  work.readme_row = fmt::format("| `{}` |", scaffold.name.substr(slash + 1));
  work.notes = {"it refuses every problem until it is written"};
  work.next = {"make build", fmt::format("build/einkorn explain {}", scaffold.name),
               fmt::format("go through {} in {}", versions::kTodo, scaffold.changes[0].path)};
  return carry_out(options.tree, tree, std::move(work), scaffold.changes);
}

}  // namespace einkorn::cli
