#pragma once

// Which tokens of a call belong to which sequence: each row of the batch is one, or the bounds of
// cu_seqlens cut one row into many.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <einkorn/cuda.h>
#include <einkorn/tensor.h>

namespace einkorn::linear_attention {

class Sequences {
 public:
  /// `count` sequences of `length` tokens, one behind the other.
  Sequences(std::int64_t count, std::int64_t length) : count_(count), length_(length) {}
  /// Sequence i is the tokens [bounds[i], bounds[i + 1]); `bounds` begin at 0 and do not decrease.
  explicit Sequences(std::vector<std::int64_t> bounds);

  std::int64_t count() const { return count_; }
  std::int64_t begin(std::int64_t i) const {
    return bounds_.empty() ? i * length_ : bounds_[static_cast<std::size_t>(i)];
  }
  std::int64_t length(std::int64_t i) const {
    return bounds_.empty() ? length_ : begin(i + 1) - begin(i);
  }
  std::int64_t total() const { return bounds_.empty() ? count_ * length_ : bounds_.back(); }
  /// Tokens of the longest; 0 of none.
  std::int64_t longest() const;
  /// Whole blocks of `tokens` in each, added up: the rows of checkpoints.
  std::int64_t blocks(std::int64_t tokens) const;
  /// The whole blocks of all sequences before number i.
  std::int64_t blocks_before(std::int64_t i, std::int64_t tokens) const;

 private:
  std::int64_t count_ = 0;
  std::int64_t length_ = 0;           // of each, unless there are bounds
  std::vector<std::int64_t> bounds_;  // count_ + 1, or empty
};

/// The numbers of a contiguous tensor [N + 1] of i32 or i64: of `on_cpu` where it is given, else of
/// `bounds`, for which a tensor on a GPU is copied to the CPU. That waits for the work on `stream`
/// before it (without one the caller has) and cannot be part of a capture: RuntimeError, with the
/// hint to give `on_cpu`.
std::vector<std::int64_t> read_bounds(std::string_view op, const TensorView& bounds,
                                      const TensorView& on_cpu,
                                      std::optional<Stream> stream = std::nullopt);

/// ValueError unless the bounds begin at 0, never decrease and end at `tokens`.
void check_bounds(std::string_view op, std::span<const std::int64_t> bounds, std::int64_t tokens);

/// Lengths that add up to `tokens`, the longest of exactly `longest`, which lies between their mean
/// and `tokens`. From four sequences on, one is empty and one of a single token where these fit.
/// `next` gives random numbers.
template <class Next>
std::vector<std::int64_t> ragged_bounds(std::int64_t seqs, std::int64_t tokens,
                                        std::int64_t longest, Next&& next) {
  std::vector<std::int64_t> lengths{longest};
  std::int64_t rest = tokens - longest;
  // Both only where the others can hold what is left.
  if (seqs >= 4 && rest >= 1 && rest - 1 <= (seqs - 3) * longest) {
    lengths.push_back(0);
    lengths.push_back(1);
    rest -= 1;
  }
  for (std::int64_t left = seqs - static_cast<std::int64_t>(lengths.size()); left > 0; --left) {
    const std::int64_t low = rest > (left - 1) * longest ? rest - (left - 1) * longest : 0;
    // Around the mean of what is left, so that the last ones get their share.
    const std::int64_t mean = rest / left;
    std::int64_t high = left == 1 ? rest : 2 * mean;
    high = high < longest ? high : longest;
    high = high > low ? high : low;
    const auto span = static_cast<std::uint64_t>(high - low) + 1;
    const std::int64_t one = low + static_cast<std::int64_t>(next() % span);
    lengths.push_back(one);
    rest -= one;
  }
  for (std::size_t i = lengths.size(); i > 1; --i) {
    std::swap(lengths[i - 1], lengths[next() % i]);
  }
  std::vector<std::int64_t> bounds{0};
  for (const std::int64_t one : lengths) bounds.push_back(bounds.back() + one);
  return bounds;
}

}  // namespace einkorn::linear_attention
