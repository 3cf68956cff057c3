#pragma once

// Which rows of the pool a sequence reads and writes: the rules of state_indices and accepted, for
// code that runs on the CPU.

#include <cstdint>

#include <einkorn/tensor.h>

namespace einkorn::linear_attention {

/// Row of the pool where there is none: nothing is read or written.
inline constexpr std::int64_t kNoRow = -1;

class PoolRows {
 public:
  PoolRows(const TensorView& state, const TensorView& indices, const TensorView& accepted,
           std::int64_t tokens)
      : pool_(state.size(0)), indices_(indices), accepted_(accepted), tokens_(tokens) {}

  bool per_token() const { return indices_.defined() && indices_.rank() == 2; }

  /// The row that a sequence's state is read from; kNoRow: the sequence is left alone.
  std::int64_t first(std::int64_t seq) const {
    if (!indices_.defined()) return seq;
    if (!per_token()) return valid(at(seq));
    std::int64_t token = 0;
    if (accepted_.defined()) {
      token = std::int64_t{accepted_.data_as<const std::int32_t>()[seq]} - 1;
      if (token < 0 || token >= tokens_) return kNoRow;
    }
    return valid(at(seq * tokens_ + token));
  }

  /// The row that the state after a token goes to; kNoRow: none.
  std::int64_t after(std::int64_t seq, std::int64_t token) const {
    if (per_token()) return valid(at(seq * tokens_ + token));
    return token + 1 == tokens_ ? first(seq) : kNoRow;
  }

 private:
  std::int64_t at(std::int64_t i) const {
    return indices_.dtype() == kI32 ? indices_.data_as<const std::int32_t>()[i]
                                    : indices_.data_as<const std::int64_t>()[i];
  }
  std::int64_t valid(std::int64_t row) const { return row >= 0 && row < pool_ ? row : kNoRow; }

  std::int64_t pool_;
  TensorView indices_, accepted_;
  std::int64_t tokens_;
};

}  // namespace einkorn::linear_attention
