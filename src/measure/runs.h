#pragma once

// Walking strided tensors in host memory.

#include <array>
#include <cstdint>

#include <einkorn/tensor.h>

namespace einkorn::measure {

/// Calls f(first, offset, count, stride) for each run along the last dimension, in row-major order:
/// `first` is the row-major index of the run's first element, `offset` its distance from the view's
/// data and `stride` the distance between its elements, both in elements.
template <class F>
void for_each_run(const TensorView& view, F&& f) {
  if (view.numel() == 0) return;
  const int outer = view.rank() - 1;
  if (outer < 0) {
    f(std::int64_t{0}, std::int64_t{0}, std::int64_t{1}, std::int64_t{1});
    return;
  }
  const std::int64_t count = view.size(outer);
  std::array<std::int64_t, kMaxRank> index{};
  for (std::int64_t first = 0;; first += count) {
    std::int64_t offset = 0;
    for (int dim = 0; dim < outer; ++dim) {
      offset += index[static_cast<std::size_t>(dim)] * view.stride(dim);
    }
    f(first, offset, count, view.stride(outer));
    int dim = outer - 1;
    for (; dim >= 0; --dim) {
      auto& position = index[static_cast<std::size_t>(dim)];
      if (++position < view.size(dim)) break;
      position = 0;
    }
    if (dim < 0) return;
  }
}

}  // namespace einkorn::measure
