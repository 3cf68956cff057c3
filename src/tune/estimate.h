#pragma once

// What tuning will cost, before it does.

#include <cstddef>

namespace einkorn::tune {

/// What the cost is made of. Seconds; zeros are guessed.
struct Costs {
  double bytes = 0;  ///< of a problem: its inputs and outputs once
  bool gpu = false;
  int input_sets = 2;          ///< that samples rotate over
  double call_seconds = 0;     ///< predicted, of one call
  double setup_seconds = 0;    ///< the child's start, inputs, the reference: once
  double prepare_seconds = 0;  ///< compile, check, warm-up: each candidate
  double sample_seconds = 0;   ///< one sample
};

struct Estimate {
  std::size_t trials = 0;
  double setup_seconds = 0;
  double prepare_seconds = 0;  ///< of all candidates
  double sample_seconds = 0;   ///< of all samples
  double total() const { return setup_seconds + prepare_seconds + sample_seconds; }
};

/// What `costs` leaves out is guessed from the bytes: what the reference and a check cost a byte on
/// one core, what NVRTC takes for a kernel of ours.
Costs guess(Costs costs);

/// `trials` candidates, raced in batches of at most `batch`.
Estimate estimate(const Costs& costs, std::size_t trials, std::size_t batch);

}  // namespace einkorn::tune
