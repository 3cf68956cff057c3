#pragma once

#include <einkorn/dtype.h>
#include <einkorn/tensor.h>

namespace einkorn::cpu {

/// A factor for each column of a row-wise op, in f32: weight + offset, 1 without a weight.
struct ColumnFactors {
  TensorView weight;        ///< [cols], f32 f16 bf16, or no tensor
  int offset = 0;           ///< added to it in f32
  DType rounded_to = kF32;  ///< the sum: f32, which changes nothing, f16 or bf16

  /// Whether the weight's memory is what write() would write.
  bool are_the_weight() const {
    return weight.defined() && weight.dtype() == kF32 && offset == 0 && rounded_to == kF32;
  }
  /// Writes out[0, cols).
  void write(std::int64_t cols, float* out) const;
};

}  // namespace einkorn::cpu
