#pragma once

// The CPU variant of the decode ops.

#include <optional>
#include <tuple>
#include <vector>

#include <einkorn/op.h>

#include "ops/linear_attention/decode.h"

namespace einkorn::linear_attention {

/// Runs a matched call on all threads.
void decode_heads(const DecodeCall& call);

/// What the op's variants have in common: any problem, nothing to tune.
struct DecodeHeads {
  struct Tiling {
    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() { return std::tuple{}; }
  };
  struct None {};
};

}  // namespace einkorn::linear_attention
