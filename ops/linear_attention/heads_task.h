#pragma once

// What heads.cc hands to its vector code, which is compiled for each instruction set.

#include <cstdint>

#include "ops/linear_attention/layout.h"
#include "ops/linear_attention/split.h"

namespace einkorn::linear_attention {

/// Tokens prepared at a time; divides kChunk, so that states are stored between stretches.
inline constexpr std::int64_t kStretch = 32;
static_assert(kChunk % kStretch == 0);

/// A tensor of rows, strides in bytes.
struct HeadRows {
  const char* data = nullptr;
  DType dtype = kF32;
  std::int64_t token = 0;
  std::int64_t head = 0;

  const char* at(std::int64_t t, std::int64_t h) const { return data + t * token + h * head; }
};

/// One call, for all threads.
struct HeadsTask {
  HeadRows q, k, v, g, beta, o;
  States initial_state, final_state, checkpoints;
  const float* decay = nullptr;  ///< [HV], in place of g
  const float* a_log = nullptr;
  const float* dt_bias = nullptr;
  std::int64_t key_dim = 0;
  std::int64_t value_heads = 0;
  std::int64_t group = 1;  ///< value heads of a head of q and k
  std::int64_t checkpoint_every = 0;
  double scale = 1;
  double lower_bound = -5;
  Gate gate = Gate::kLog;
  Beta beta_form = Beta::kProbability;
  bool negative_eigenvalues = false;
  bool l2norm = false;
  bool delta = true;
  bool channel_gate = true;
};

/// What one task does: a value head's columns [first, first + count) over one sequence.
struct HeadSpan {
  std::int64_t sequence = 0;
  std::int64_t begin = 0;  ///< of the sequence, in the batch's rows one behind the other
  std::int64_t length = 0;
  std::int64_t checkpoints_before = 0;
  std::int64_t head = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

}  // namespace einkorn::linear_attention
