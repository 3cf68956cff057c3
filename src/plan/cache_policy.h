#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <einkorn/fields.h>

namespace einkorn {

/// How a kernel's global accesses treat the caches; the numbers are those of `Cache` in
/// src/cuda/device/common/vec.cuh.
enum class CachePolicy : std::uint8_t { kDefault, kStream, kNoAllocate };

template <>
struct EnumNames<CachePolicy> {
  static constexpr std::array<std::string_view, 3> kNames{"default", "stream", "no_allocate"};
};

}  // namespace einkorn
