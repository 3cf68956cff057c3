#pragma once

// HTML by way of few functions, all of which escape: texts come from files that anybody may have
// written.

#include <span>
#include <string>
#include <string_view>

#include "src/report/fields.h"

namespace einkorn::report {

/// For text and for values in double quotes.
std::string escaped(std::string_view text);

/// For a JSON document inside a script element: "<", ">", "&" and the line separators of JavaScript
/// as \u escapes, so that nothing in it ends the element. It stays JSON and parses to the same
/// values. Bytes that are no UTF-8 are replaced.
std::string json_in_script(const Json& value);

/// As a person reads it: four significant digits, no exponent.
std::string number_text(double value);

enum class Cell {
  kText,
  kCode,     ///< text in the font of code: names, problems, tilings
  kNumber,   ///< `<data value="...">`, with the exact number in the value
  kInteger,  ///< likewise, all digits
  kOrigin,   ///< file, commit or date of the row; left out on paper
};

struct Column {
  std::string_view header;
  std::string_view key;  ///< of the row's object
  Cell cell = Cell::kText;
};

/// A table with a header row; rows are objects. What is null or empty in all rows has no column, in
/// some rows an empty cell. Wide tables scroll by themselves. With `open` false the table is folded
/// below a line that says how many rows it has.
std::string table_html(std::string_view caption, std::span<const Column> columns, const Json& rows,
                       bool open = true);

}  // namespace einkorn::report
