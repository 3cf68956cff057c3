#pragma once

// A variant's sources under the name of its next version.

#include <string>
#include <string_view>
#include <vector>

namespace einkorn::versions {

/// What is renamed: one version of a design to another.
struct Rename {
  std::string op, arch, design;
  int from = 0;
  int to = 0;
  /// Names that, before "/" or "::", make a word another variant's: "smxx/rows_v1" in a file of
  /// cpu/rows_v1 stays.
  std::vector<std::string> other_arches = {};
  std::vector<std::string> other_ops = {};
};

/// "rows_v1".
std::string stem(std::string_view design, int version);
/// "RowsV1", "SplitKvV1".
std::string type_name(std::string_view snake);

/// One identifier: rows_v1, ROWS_V1 and RowsV1 as a whole or between word boundaries, as in
/// rows_v1_kernel, EINKORN_ROWS_V1_ and kRowsV1Tile; anything else as it is.
std::string rename_identifier(std::string_view word, const Rename& rename);

/// A whole source: identifiers, words in strings, paths of includes and comments. The version in
/// `make_variant<...>("<arch>", "<design>", <version>` is replaced as well.
/// ValueError as lex().
std::string rename_source(std::string_view source, std::string_view file, const Rename& rename);

/// How often `source` holds that call with the version `version`.
int count_registrations(std::string_view source, std::string_view file, const Rename& rename,
                        int version);

/// The comment that a file begins with, changed to say that nothing has yet: without the paragraphs
/// "Best: ..." and "Changed since ...", which are about the version before, and with
/// "Changed since v<from>: nothing yet." at its end. A file that does not begin with // gets one
/// that says only that.
std::string restart_head(std::string_view source, int from);

/// What the head of a file says after "Changed since v<N>:", in one line; empty when it says
/// nothing.
std::string changes_told(std::string_view source);

}  // namespace einkorn::versions
