#include "src/profile/ncu_csv.h"

#include <algorithm>
#include <charconv>

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::profile {
namespace {

using Row = std::vector<std::string>;

/// One record of CSV from `text`, which is shortened by it: quoted cells may hold separators, line
/// ends and doubled quotes. `lines` counts up by the line ends met.
Row take_row(std::string_view& text, int& lines) {
  Row row(1);
  bool quoted = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++lines;
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      row.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      row.emplace_back();
    } else if (!quoted && c == '\n') {
      ++i;
      break;
    } else if (quoted || c != '\r') {
      row.back() += c;
    }
  }
  text.remove_prefix(i);
  return row;
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

std::size_t column_of(const Row& header, std::string_view name) {
  const auto found = std::ranges::find(header, name);
  return found == header.end() ? kNone : static_cast<std::size_t>(found - header.begin());
}

bool is_header(const Row& row) {
  return !row.empty() && row[0] == "ID" && column_of(row, "Kernel Name") != kNone;
}

class Table {
 public:
  explicit Table(Row header)
      : header_(std::move(header)),
        name_(column_of(header_, "Kernel Name")),
        metric_(column_of(header_, "Metric Name")),
        unit_(column_of(header_, "Metric Unit")),
        value_(column_of(header_, "Metric Value")) {}

  std::size_t columns() const { return header_.size(); }

  void add(const Row& row) {
    if (metric_ != kNone && value_ != kNone) {
      add_line(row);
    } else if (row[0].empty()) {
      units_ = row;  // below the header, with nothing in the columns that say which kernel
    } else {
      add_kernel(row);
    }
  }

  std::vector<NcuKernel> take() { return std::move(kernels_); }

 private:
  void add_line(const Row& row) {
    if (kernels_.empty() || row[0] != id_) {
      id_ = row[0];
      kernels_.push_back({row[name_], {}});
    }
    // A rule's line has a text and no metric.
    if (row[metric_].empty()) return;
    kernels_.back().metrics[row[metric_]] = {row[value_],
                                             unit_ != kNone ? row[unit_] : std::string()};
  }

  void add_kernel(const Row& row) {
    NcuKernel& kernel = kernels_.emplace_back();
    kernel.name = row[name_];
    for (std::size_t i = 0; i < row.size(); ++i) {
      kernel.metrics[header_[i]] = {row[i], i < units_.size() ? units_[i] : std::string()};
    }
  }

  Row header_;
  std::size_t name_;
  std::size_t metric_;
  std::size_t unit_;
  std::size_t value_;
  Row units_ = {};
  std::string id_ = {};
  std::vector<NcuKernel> kernels_ = {};
};

}  // namespace

std::optional<double> NcuValue::number() const {
  std::string plain = text;
  std::erase(plain, ',');
  std::erase(plain, ' ');
  double value = 0;
  const char* end = plain.data() + plain.size();
  const auto [after, error] = std::from_chars(plain.data(), end, value);
  if (error != std::errc() || after != end || plain.empty()) return std::nullopt;
  return value;
}

const NcuValue* NcuKernel::find(std::string_view metric) const {
  const auto found = metrics.find(metric);
  return found == metrics.end() ? nullptr : &found->second;
}

std::vector<NcuKernel> parse_ncu_csv(std::string_view text) {
  std::optional<Table> table;
  int line = 0;
  while (!text.empty()) {
    const int begin = line + 1;
    const std::string_view whole = first_line(text);
    const bool passed_over = whole.starts_with("==") || whole.empty() || whole == "\r";
    if (passed_over || (!table && !whole.starts_with("\"ID\"") && !whole.starts_with("ID,"))) {
      text.remove_prefix(std::min(whole.size() + 1, text.size()));
      ++line;
      continue;
    }
    Row row = take_row(text, line);
    if (!table) {
      if (is_header(row)) table.emplace(std::move(row));
      continue;
    }
    EK_CHECK(row.size() == table->columns(), ErrorKind::kRuntime,
             fmt::format("ncu: line {}: expected {} columns as in the header, got {}", begin,
                         table->columns(), row.size()));
    table->add(row);
  }
  EK_CHECK(table.has_value(), ErrorKind::kRuntime,
           "ncu: no table in what it printed: expected a line that begins with \"ID\"");
  return table->take();
}

}  // namespace einkorn::profile
