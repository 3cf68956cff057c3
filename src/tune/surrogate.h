#pragma once

// A Gaussian process over a few dozen points: a guess with its uncertainty.

#include <span>
#include <vector>

namespace einkorn::tune {

struct Guess {
  double mean = 0;
  double deviation = 0;  ///< of the function itself, without the noise of a measurement
};

/// Rasmussen and Williams 2006, algorithm 2.1, with Matérn kernels (nu = 5/2): smooth, but less
/// so than times of kernels never are. Most of the variance is a sum of functions of one column
/// each (Duvenaud, Nickisch and Rasmussen 2011): what a column does is then known from a few
/// points, also where the others differ. Length scales, one a column, and the noise are those of a
/// small grid under which the points are likeliest, searched a column at a time; the variance has
/// a prior.
class Surrogate {
 public:
  using Row = std::vector<double>;

  /// Rows of equal length, columns within [0, 1], as many values as rows, at least one: logarithms
  /// of times, which the prior is for.
  Surrogate(std::vector<Row> rows, std::span<const double> values);

  Guess at(const Row& row) const;

 private:
  struct Scales {
    std::vector<double> lengths;
    double noise = 0;  ///< variance, as a share of the kernel's
  };
  /// What follows from scales: the factor of the kernel matrix, and how likely the points are.
  struct Fit {
    Scales scales;
    std::vector<Row> factor;    ///< lower Cholesky factor
    std::vector<double> alpha;  ///< the matrix' inverse times the values
    double variance = 0;        ///< of the kernel
    double likelihood = 0;      ///< log of it, up to a constant
  };

  Fit fit(const Scales& scales) const;
  void search();

  std::vector<Row> rows_;
  std::vector<double> values_;  ///< without their mean
  double mean_ = 0;
  Fit best_;
};

}  // namespace einkorn::tune
