#pragma once

// Decays and betas in double, from each of their forms. Sources: Yang et al. 2024, "Gated Delta
// Networks"; Kimi Team 2025, "Kimi Linear", for the decay of each channel and its lower bound.

#include <cmath>

#include "ops/linear_attention/forms.h"

namespace einkorn::linear_attention {

/// Above this, softplus(x) is x: PyTorch's threshold, whose error is below e^-20.
inline constexpr double kSoftplusThreshold = 20;

/// Added to the sum of squares under the root of the in-kernel l2 norm.
inline constexpr double kNormEps = 1e-6;

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

inline double softplus(double x) { return x > kSoftplusThreshold ? x : std::log1p(std::exp(x)); }

/// What the raw forms of a gate take beside the gate itself.
struct GateTerms {
  double rate = 1;          ///< exp(A_log); 1 where A_log was left out
  double bias = 0;          ///< dt_bias
  double lower_bound = -5;  ///< negative
};

/// The natural log of the decay, at most 0; minus infinity for a factor of 0.
inline double log_decay(Gate gate, double value, const GateTerms& terms) {
  switch (gate) {
    case Gate::kLog:
      return value;
    case Gate::kSoftplus:
      return -terms.rate * softplus(value + terms.bias);
    case Gate::kLowerBound:
      return terms.lower_bound * sigmoid(terms.rate * (value + terms.bias));
    case Gate::kFactor:
      return std::log(value);
  }
  return value;
}

/// Beta from its form; `doubled` where negative eigenvalues of the transition are allowed.
inline double beta_of(Beta form, double value, bool doubled) {
  const double beta = form == Beta::kLogit ? sigmoid(value) : value;
  return doubled ? 2 * beta : beta;
}

}  // namespace einkorn::linear_attention
