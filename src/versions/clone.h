#pragma once

// A variant's next version, as the files that it takes.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/versions/change.h"
#include "src/versions/source_tree.h"

namespace einkorn::versions {

struct Clone {
  ListedVariant from, to;
  std::vector<FileChange> changes;  ///< the new files, then the list
};

/// What cloning the variant `id` takes; writes nothing. `version`: the new one; without it, one
/// more than the highest of that design. The new line stands directly after the cloned one, so that
/// an unmeasured clone never takes over by itself. ValueError: unknown variant (with the nearest),
/// a version that is not newer, a target that exists, a source that does not lex or does not
/// register itself by make_variant.
Clone plan_clone(const SourceTree& tree, std::string_view id, std::optional<int> version);

/// "v2" or "2" as a number. ValueError for anything else.
int parse_version(std::string_view text);

/// `list` with the line of `added` directly after that of `after`, or at the end when nothing is
/// given.
std::string with_line(std::string_view list, const ListedVariant* after,
                      const ListedVariant& added);

}  // namespace einkorn::versions
