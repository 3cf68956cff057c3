#pragma once

// What tells the copy engine how a tensor lies in memory, shared by host and device code.

namespace einkorn {

/// As the driver makes it (src/cuda/tensor_map.h), among a kernel's parameters, where the copy
/// engine reads it.
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

}  // namespace einkorn
