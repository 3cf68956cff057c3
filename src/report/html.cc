#include "src/report/html.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace einkorn::report {
namespace {

bool is_empty(const Json& row, std::string_view key) {
  const auto found = row.find(std::string(key));
  if (found == row.end() || found->is_null()) return true;
  return found->is_string() && found->get_ref<const std::string&>().empty();
}

const char* class_of(const Column& column) {
  if (column.cell == Cell::kOrigin) return " class=\"origin\"";
  const bool number = column.cell == Cell::kNumber || column.cell == Cell::kInteger;
  return number ? " class=\"number\"" : "";
}

std::string cell_html(const Json& row, const Column& column) {
  const char* kind = class_of(column);
  if (is_empty(row, column.key)) return fmt::format("<td{}></td>", kind);
  const Json& value = row[std::string(column.key)];
  if (value.is_boolean()) {
    return fmt::format("<td{}>{}</td>", kind, value.get<bool>() ? "yes" : "no");
  }
  if (value.is_number()) {
    const std::string exact = value.dump();
    const std::string text =
        column.cell == Cell::kInteger ? exact : number_text(value.get<double>());
    return fmt::format("<td{}><data value=\"{}\">{}</data></td>", kind, exact, text);
  }
  const std::string text = escaped(value.is_string() ? value.get<std::string>() : value.dump());
  const bool code = column.cell == Cell::kCode || column.cell == Cell::kOrigin;
  return code ? fmt::format("<td{}><code>{}</code></td>", kind, text)
              : fmt::format("<td>{}</td>", text);
}

std::string rows_html(std::span<const Column> columns, const Json& rows) {
  std::string out;
  for (const Json& row : rows) {
    out += "<tr>";
    for (const Column& column : columns) out += cell_html(row, column);
    out += "</tr>\n";
  }
  return out;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string json_in_script(const Json& value) {
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else if (text.compare(i, 3, "\xe2\x80\xa8") == 0 || text.compare(i, 3, "\xe2\x80\xa9") == 0) {
      out += text[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

std::string number_text(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  // 0.99996 is 1.000: what is rounded up to a power of ten has that power's digits.
  const int digits = std::clamp(3 - static_cast<int>(std::floor(std::log10(size * 1.00005))), 0, 9);
  // Halves go up, as in the scripts' toFixed; fmt's go to even.
  const long double scale = std::pow(10.0L, digits);
  return fmt::format("{:.{}f}", std::floor(static_cast<long double>(value) * scale + 0.5L) / scale,
                     digits);
}

std::string table_html(std::string_view caption, std::span<const Column> columns, const Json& rows,
                       bool open) {
  std::vector<Column> used;
  for (const Column& column : columns) {
    for (const Json& row : rows) {
      if (is_empty(row, column.key)) continue;
      used.push_back(column);
      break;
    }
  }
  std::string head;
  for (const Column& column : used) {
    head += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(column), escaped(column.header));
  }
  const std::string title = escaped(caption);
  return fmt::format(
      "<details class=\"table\"{}><summary>{} <span>{} {}</span></summary>\n"
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n<table>\n"
      "<caption>{}</caption>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table>\n</div>"
      "</details>\n",
      open ? " open" : "", title, rows.size(), rows.size() == 1 ? "row" : "rows", title, title,
      head, rows_html(used, rows));
}

}  // namespace einkorn::report
