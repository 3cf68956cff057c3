#pragma once

// Where the rows of a tensor over tokens and the matrices of a tensor of states begin.

#include <cstdint>

#include <einkorn/match.h>
#include <einkorn/tensor.h>

#include "ops/linear_attention/forms.h"

namespace einkorn::linear_attention {

/// A tensor [batch, tokens, heads, width], or [batch, tokens, heads] of single elements, as rows of
/// tokens one behind the other; strides in elements.
struct TokenRows {
  void* data = nullptr;
  DType dtype = kF32;
  std::int64_t token = 0;
  std::int64_t head = 0;

  std::int64_t offset(std::int64_t t, std::int64_t h) const { return t * token + h * head; }
};

/// Of a tensor whose batch and tokens are known to collapse; "no tensor" gives no data.
inline TokenRows token_rows(const TensorView& tensor) {
  if (!tensor.defined()) return {};
  const int trailing = tensor.rank() - 2;
  return {tensor.data(), tensor.dtype(), collapsed_row_stride(tensor, trailing).value_or(0),
          tensor.stride(2)};
}

/// A contiguous tensor of states, [count, value heads, ...], each K x V in one of the layouts.
struct States {
  void* data = nullptr;
  DType dtype = kF32;
  std::int64_t value_heads = 0;
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
  StateLayout layout = StateLayout::kKv;

  /// Of the first element of a state.
  std::int64_t offset(std::int64_t i, std::int64_t head) const {
    return (i * value_heads + head) * key_dim * value_dim;
  }
  /// From one row of K, or column of V, to the next.
  std::int64_t key_stride() const { return layout == StateLayout::kKv ? value_dim : 1; }
  std::int64_t value_stride() const { return layout == StateLayout::kKv ? 1 : key_dim; }
};

}  // namespace einkorn::linear_attention
