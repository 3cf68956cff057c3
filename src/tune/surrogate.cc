#include "src/tune/surrogate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace einkorn::tune {
namespace {

using Row = Surrogate::Row;

// In widths of a column. The longest says that a column does not matter.
constexpr double kLengths[] = {0.25, 0.5, 1, 2, 6};
// Times repeat within a percent or so, and differ by tens of percents.
constexpr double kNoises[] = {1e-4, 1e-2};
// Tilings of a kernel differ by 5 to 25 %. Without this the first two or three points, when they
// happen to be as fast as each other, say that all are, and the search stays where it is. It counts
// as two points: less than what is measured, soon.
constexpr double kPriorPoints = 2;
constexpr double kPriorVariance = 0.15 * 0.15;
// Share of the variance that is a sum over columns; the rest depends on all of them together.
// Anything from 0.6 to 0.9 does as well on the surfaces measured.
constexpr double kAdditive = 0.8;

double matern(double distance_squared) {
  const double r = std::sqrt(5 * distance_squared);
  return (1 + r + r * r / 3) * std::exp(-r);
}

double kernel(const Row& a, const Row& b, std::span<const double> lengths) {
  if (a.empty()) return 1;
  double squares = 0;
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double apart = (a[i] - b[i]) / lengths[i];
    squares += apart * apart;
    sum += matern(apart * apart);
  }
  return kAdditive * sum / static_cast<double>(a.size()) + (1 - kAdditive) * matern(squares);
}

/// Lower factor of a symmetric positive matrix, in place; entries above the diagonal are left.
void factorise(std::vector<Row>& matrix) {
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = matrix[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= matrix[i][k] * matrix[j][k];
      matrix[i][j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / matrix[j][j];
    }
  }
}

/// x with factor * x = right.
std::vector<double> solve_lower(const std::vector<Row>& factor, std::vector<double> right) {
  for (std::size_t i = 0; i < right.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) right[i] -= factor[i][k] * right[k];
    right[i] /= factor[i][i];
  }
  return right;
}

/// x with transposed(factor) * x = right.
std::vector<double> solve_upper(const std::vector<Row>& factor, std::vector<double> right) {
  for (std::size_t i = right.size(); i-- > 0;) {
    for (std::size_t k = i + 1; k < right.size(); ++k) right[i] -= factor[k][i] * right[k];
    right[i] /= factor[i][i];
  }
  return right;
}

}  // namespace

Surrogate::Surrogate(std::vector<Row> rows, std::span<const double> values)
    : rows_(std::move(rows)), values_(values.begin(), values.end()) {
  mean_ = std::reduce(values_.begin(), values_.end()) / static_cast<double>(values_.size());
  for (double& value : values_) value -= mean_;
  search();
}

Surrogate::Fit Surrogate::fit(const Scales& scales) const {
  const std::size_t count = rows_.size();
  Fit out;
  out.scales = scales;
  out.factor.assign(count, Row(count));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      out.factor[i][j] = kernel(rows_[i], rows_[j], scales.lengths);
    }
    out.factor[i][i] += scales.noise;
  }
  factorise(out.factor);
  const std::vector<double> half = solve_lower(out.factor, values_);
  out.alpha = solve_upper(out.factor, half);
  const double squares = std::inner_product(half.begin(), half.end(), half.begin(), 0.0);
  // The variance of the kernel in closed form, under an inverse gamma prior.
  const double n = static_cast<double>(count) + kPriorPoints;
  out.variance = (squares + kPriorPoints * kPriorVariance) / n;
  double log_determinant = 0;
  for (std::size_t i = 0; i < count; ++i) log_determinant += 2 * std::log(out.factor[i][i]);
  out.likelihood = -0.5 * (n * std::log(out.variance) + log_determinant);
  return out;
}

void Surrogate::search() {
  const std::size_t columns = rows_.front().size();
  best_.likelihood = std::numeric_limits<double>::lowest();
  const auto consider = [&](const Scales& scales) {
    Fit one = fit(scales);
    if (one.likelihood > best_.likelihood + 1e-9) best_ = std::move(one);
  };
  for (const double noise : kNoises) {
    for (const double length : kLengths) {
      consider({std::vector<double>(columns, length), noise});
    }
  }
  // A length for each column takes more points than columns to tell.
  if (rows_.size() <= columns + 1) return;
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t column = 0; column < columns; ++column) {
      Scales scales = best_.scales;
      for (const double length : kLengths) {
        scales.lengths[column] = length;
        consider(scales);
      }
    }
  }
}

Guess Surrogate::at(const Row& row) const {
  std::vector<double> near;
  near.reserve(rows_.size());
  for (const Row& one : rows_) near.push_back(kernel(one, row, best_.scales.lengths));
  const double mean = std::inner_product(near.begin(), near.end(), best_.alpha.begin(), mean_);
  const std::vector<double> half = solve_lower(best_.factor, near);
  const double known = std::inner_product(half.begin(), half.end(), half.begin(), 0.0);
  return {mean, std::sqrt(best_.variance * std::max(1 - known, 0.0))};
}

}  // namespace einkorn::tune
