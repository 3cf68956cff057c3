#pragma once

// What the references of silu_mul and its gradients share: the places of gate and up, or of their
// gradients.

#include <cstdint>

#include <einkorn/match.h>

#include "ops/activation/gated.h"
#include "src/cpu/elements.h"
#include "src/cpu/threads.h"

namespace einkorn::gated {

/// A scalar as variants take it.
inline double in_f32(double value) { return static_cast<double>(static_cast<float>(value)); }

/// One tensor of N columns, or one of the two inside a packed one: element (row, col) is at
/// row * row_stride + col * col_stride from data.
struct Columns {
  char* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 1;

  std::int64_t at(std::int64_t row, std::int64_t col) const {
    return row * row_stride + col * col_stride;
  }
};

inline Columns whole(const TensorView& tensor, std::int64_t rows) {
  return {tensor.data_as<char>(), rows > 1 ? collapsed_row_stride(tensor).value_or(0) : 0, 1};
}

struct Places {
  Columns gate, up;
  DType dtype;
};
inline Places places(const Pair& pair, Packing packing, std::int64_t rows) {
  if (packing == Packing::kSplit) {
    return {whole(pair.gate.tensor, rows), whole(pair.up.tensor, rows), pair.gate.tensor.dtype()};
  }
  const TensorView& packed = pair.packed.tensor;
  const bool interleaved = packing == Packing::kInterleaved;
  Columns gate = whole(packed, rows);
  gate.col_stride = interleaved ? 2 : 1;
  Columns up = gate;
  up.data += (interleaved ? 1 : packed.size(-1) / 2) * (bits(packed.dtype()) / 8);
  return {gate, up, packed.dtype()};
}

/// f(row, col) of every element: one list of columns of all rows, so that few long rows use all
/// threads, too.
template <class F>
void for_each_element(std::int64_t rows, std::int64_t cols, F&& f) {
  cpu::parallel_for(0, rows * cols, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) f(i / cols, i % cols);
  });
}

}  // namespace einkorn::gated
