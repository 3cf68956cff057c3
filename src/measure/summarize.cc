#include <algorithm>
#include <cmath>

#include "src/measure/bench.h"

namespace einkorn::measure {
namespace {

/// Linear interpolation between the two nearest of sorted values; `fraction` from 0 to 1.
double quantile(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  return sorted[below] + weight * (sorted[above] - sorted[below]);
}

}  // namespace

Timing summarize(std::vector<double> microseconds) {
  if (microseconds.empty()) return {};
  std::ranges::sort(microseconds);
  return {quantile(microseconds, 0.5), quantile(microseconds, 0.25), quantile(microseconds, 0.75),
          static_cast<int>(microseconds.size())};
}

}  // namespace einkorn::measure
