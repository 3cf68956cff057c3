#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <einkorn/plan.h>

namespace einkorn::profile {

/// A place in a plan where branches run side by side.
struct ConcurrentNode {
  std::string path;                                ///< names of the nodes down to it
  std::vector<std::vector<std::size_t>> branches;  ///< of each, its leaves' indices in leaves(plan)
  /// A plan of this node and nothing else. It takes the arguments and the workspace of the whole
  /// plan, in which the stages before the node have to have run.
  Plan alone;
};

/// Those with at least two branches, in the order of the walk, outer before inner. The plans are
/// copies: `plan` may go.
std::vector<ConcurrentNode> concurrent_nodes(const Plan& plan);

}  // namespace einkorn::profile
