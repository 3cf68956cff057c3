#pragma once

// A value head of one sequence, as both references read and write it.

#include <cmath>
#include <cstdint>
#include <vector>

#include "ops/linear_attention/gates.h"
#include "ops/linear_attention/prefill.h"
#include "src/cpu/elements.h"

namespace einkorn::linear_attention {

using Values = std::vector<double>;

/// What a token brings to a value head.
struct HeadToken {
  Values q;      ///< [K], normalised where asked for, times the scale
  Values k;      ///< [K], normalised where asked for
  Values v;      ///< [V]
  Values decay;  ///< [K], from 0 to 1
  double beta;   ///< 1 without a delta rule
};

class ReferenceHead {
 public:
  /// `first`: the sequence's first token in the batch's rows one behind the other.
  ReferenceHead(const PrefillCall& call, std::int64_t sequence, std::int64_t first,
                std::int64_t head);

  HeadToken token(std::int64_t t) const;
  void write_o(std::int64_t t, const Values& o) const;

  /// [K, V], zeros without an initial state.
  Values initial_state() const;
  void write_final_state(const Values& state) const;
  /// After `done` tokens of the sequence, whose first checkpoint is number `before`.
  void write_checkpoint(std::int64_t done, std::int64_t before, const Values& state) const;

 private:
  Values row(const TokenRows& rows, std::int64_t t, std::int64_t head, std::int64_t width) const;
  void normalise(Values& values) const;
  void read_decay(std::int64_t t, Values& decay) const;
  void write_state(const TensorView& tensor, std::int64_t i, const Values& state) const;

  const PrefillCall& call_;
  std::int64_t sequence_;
  std::int64_t first_;
  std::int64_t head_;
  std::int64_t key_dim_;
  std::int64_t value_dim_;
  TokenRows q_, k_, v_, g_, beta_, o_;
};

}  // namespace einkorn::linear_attention
