#pragma once

#include <cstdint>
#include <optional>

#include "src/jit/signature.h"
#include "src/jit/typed_arguments.h"

namespace einkorn::jit {

/// The bits of `number` as a scalar parameter holds them, in the low bytes. Nothing when the value
/// is not exactly representable; from floating to floating it is rounded to nearest even, and only
/// what would become infinite or NaN is refused.
std::optional<std::uint64_t> convert_number(const NumberArgument& number, const Parameter& scalar);

/// The bits in the caller's own type.
std::uint64_t own_bits(const NumberArgument& number);

}  // namespace einkorn::jit
