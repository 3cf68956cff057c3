#pragma once

#include <einkorn/tensor.h>

#include "ops/launch.h"

namespace einkorn::linear_attention {

/// Of a tensor of heads, in elements: from token to token and from head to head.
inline void bind_strides(const TensorView& tensor, long long& token, long long& head) {
  token = cuda::row_stride(tensor, 2);
  head = tensor.stride(2);
}

}  // namespace einkorn::linear_attention
