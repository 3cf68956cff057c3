#pragma once

// The table that `ncu --csv` prints, as rows of metrics.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace einkorn::profile {

/// A value as it was printed, with its unit: "1,234.5", "byte/second".
struct NcuValue {
  std::string text;
  std::string unit;

  /// The number, thousands separators left out; nothing for text such as "n/a".
  std::optional<double> number() const;
};

/// One profiled kernel.
struct NcuKernel {
  std::string name;
  std::map<std::string, NcuValue, std::less<>> metrics;  ///< by ncu's name of the metric

  const NcuValue* find(std::string_view metric) const;
};

/// Takes both forms: a column for each metric with a row of units below the header (`--page raw`),
/// and a line for each metric ("Metric Name", "Metric Unit", "Metric Value"). Lines before the
/// header and lines that begin with "==" (ncu's messages, the program's own output) are passed
/// over. A number's point is '.'; ',' separates thousands.
///
/// RuntimeError: no header, or a row with another number of columns, which names the line.
std::vector<NcuKernel> parse_ncu_csv(std::string_view text);

}  // namespace einkorn::profile
