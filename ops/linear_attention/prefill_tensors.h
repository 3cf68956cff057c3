#pragma once

// The tensors of a problem, for its bytes, its alignment and its inputs.

#include <array>
#include <string_view>
#include <vector>

#include "ops/linear_attention/prefill.h"

namespace einkorn::linear_attention {

struct PrefillTensor {
  std::string_view name;
  std::array<std::int64_t, 4> shape;  ///< leading sizes of 1 where it has fewer dimensions
  DType dtype;
  bool aligned;  ///< read by vectors: the problem's `align` is of its rows
  bool state = false;
};

/// All but cu_seqlens.
std::vector<PrefillTensor> prefill_tensors(const PrefillKind& kind, const PrefillProblem& problem);

}  // namespace einkorn::linear_attention
