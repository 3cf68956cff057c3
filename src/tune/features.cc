#include "src/tune/features.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace einkorn::tune {
namespace {

using Column = std::vector<double>;

/// Fields of all candidates by name; one that a candidate leaves out is empty there.
std::map<std::string, std::vector<std::string>> fields_of(std::span<const Candidate> candidates) {
  std::map<std::string, std::vector<std::string>> out;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    std::string_view text = candidates[i].tiling;
    while (!text.empty()) {
      const std::string_view word = text.substr(0, text.find(' '));
      text.remove_prefix(std::min(text.size(), word.size() + 1));
      if (word.empty()) continue;
      const std::size_t equals = std::min(word.find('='), word.size());
      auto& values = out[std::string(word.substr(0, equals))];
      values.resize(candidates.size());
      values[i] = word.substr(std::min(equals + 1, word.size()));
    }
  }
  return out;
}

/// All as numbers that are not negative, or nothing.
std::optional<Column> numbers_of(const std::vector<std::string>& texts) {
  Column out;
  for (const std::string& text : texts) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc() || after != end || !(value >= 0)) return std::nullopt;
    out.push_back(value);
  }
  return out;
}

/// To the range from 0 to 1; nothing for a constant.
std::optional<Column> scaled(Column values) {
  const auto [low, high] = std::ranges::minmax(values);
  if (!(high > low)) return std::nullopt;
  for (double& value : values) value = (value - low) / (high - low);
  return values;
}

std::optional<Column> log_column(Column values) {
  const double shift = std::ranges::min(values) > 0 ? 0 : 1;
  for (double& value : values) value = std::log2(value + shift);
  return scaled(std::move(values));
}

/// A column for each value, when there are two at least.
std::vector<Column> indicators(const std::vector<std::string>& texts) {
  const std::set<std::string> values(texts.begin(), texts.end());
  if (values.size() < 2) return {};
  std::vector<Column> out;
  for (const std::string& value : values) {
    Column column;
    // Two different values differ in two columns: together 1.
    for (const std::string& text : texts) column.push_back(text == value ? std::sqrt(0.5) : 0);
    out.push_back(std::move(column));
  }
  return out;
}

std::optional<Column> predictions(std::span<const Candidate> candidates) {
  Column out;
  for (const Candidate& one : candidates) {
    if (!(one.predicted_us > 0)) return std::nullopt;
    out.push_back(one.predicted_us);
  }
  if (out.empty()) return std::nullopt;
  const auto [low, high] = std::ranges::minmax(out);
  // Scaled to a full column, differences that mean nothing would be as wide as those of a field.
  if (low > high * (1 - kPredictionsTied)) return std::nullopt;
  return log_column(std::move(out));
}

}  // namespace

std::vector<std::vector<double>> features(std::span<const Candidate> candidates) {
  std::vector<Column> columns;
  for (const auto& [name, texts] : fields_of(candidates)) {
    if (const auto numbers = numbers_of(texts)) {
      if (auto column = log_column(*numbers)) columns.push_back(std::move(*column));
    } else {
      for (Column& column : indicators(texts)) columns.push_back(std::move(column));
    }
  }
  if (auto column = predictions(candidates)) columns.push_back(std::move(*column));
  std::vector<std::vector<double>> rows(candidates.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const Column& column : columns) rows[i].push_back(column[i]);
  }
  return rows;
}

}  // namespace einkorn::tune
