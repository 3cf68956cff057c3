#include "cli/table.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace einkorn::cli {

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {  // a colour: ESC [ ... m
      while (i < text.size() && text[i] != 'm') ++i;
    } else if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U) {
      ++width;  // continuation bytes of UTF-8 take no place of their own
    }
  }
  return width;
}

Table::Table(const std::vector<std::string>& headers) {
  for (const std::string& header : headers) {
    const bool right = header.starts_with('>');
    columns_.push_back({right ? header.substr(1) : header, right});
  }
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    for (const auto& row : rows_) widths[c] = std::max(widths[c], display_width(row[c]));
    if (widths[c] > 0) widths[c] = std::max(widths[c], display_width(columns_[c].header));
  }
  std::string out;
  const auto add_line = [&](auto&& cell) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (widths[c] == 0) continue;
      const std::string& text = cell(c);
      const std::string blanks(widths[c] - display_width(text), ' ');
      if (!line.empty()) line += "  ";
      line += columns_[c].right ? blanks + text : text + blanks;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  add_line([&](std::size_t c) -> const std::string& { return columns_[c].header; });
  for (const auto& row : rows_) {
    add_line([&](std::size_t c) -> const std::string& { return row[c]; });
  }
  return out;
}

}  // namespace einkorn::cli
