// einkorn clone: the next version of a variant.

#include <optional>

#include <fmt/format.h>

#include "cli/status.h"
#include "cli/tree_changes.h"
#include "src/versions/clone.h"
#include "src/versions/rename.h"

namespace einkorn::cli {

int clone_variant(const CloneOptions& options) {
  const versions::SourceTree tree = open_tree(options.tree.tree);
  const versions::Clone clone = as_usage([&] {
    std::optional<int> version;
    if (!options.version.empty()) version = versions::parse_version(options.version);
    return versions::plan_clone(tree, options.variant, version);
  });
  TreeWork work;
  work.verb = "clone";
  work.made = clone.to.id();
  work.op_path = tree.find_op(clone.to.op).path();
  work.readme_row = fmt::format("| `{}` |", clone.to.name());
  work.notes = {
      fmt::format("its line stands behind that of {}, which goes on being chosen; move it "
                  "up when it has won",
                  clone.from.name())};
  const auto stem = versions::stem(clone.to.design, clone.to.version);
  work.next = {
      "make build", fmt::format("build/einkorn check {}", clone.to.id()),
      fmt::format("say at the head of {} what changed since v{}", stem, clone.from.version),
      fmt::format("build/einkorn bench {} --versions", clone.to.op)};
  return carry_out(options.tree, tree, std::move(work), clone.changes);
}

}  // namespace einkorn::cli
