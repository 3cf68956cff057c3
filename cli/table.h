#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace einkorn::cli {

/// Rows of text in aligned columns, two blanks apart, no lines drawn. Widths count characters of
/// UTF-8, not bytes, and nothing for colour.
class Table {
 public:
  /// A header that begins with '>' aligns its column to the right (the '>' is not printed).
  explicit Table(const std::vector<std::string>& headers);

  /// Missing cells at the end are empty.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  /// With a newline after each line and no blanks at line ends. Columns that are empty in all rows
  /// are left out.
  std::string text() const;

 private:
  struct Column {
    std::string header;
    bool right;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Characters that `text` takes on a terminal.
std::size_t display_width(std::string_view text);

}  // namespace einkorn::cli
