#pragma once

#define DISPATCH_FLAG(flag, NAME, ...) \
  [&] {                                \
    if (flag) {                        \
      constexpr bool NAME = true;      \
      return __VA_ARGS__();            \
    } else {                           \
      constexpr bool NAME = false;     \
      return __VA_ARGS__();            \
    }                                  \
  }()

namespace rowops {

template <typename T, bool kNegate>
__device__ inline float4 times(float4 packed, T factor) {
  T* values = reinterpret_cast<T*>(&packed);
  for (int i = 0; i < int(sizeof(float4) / sizeof(T)); ++i) {
    values[i] = kNegate ? -(values[i] * factor) : values[i] * factor;
  }
  return packed;
}

inline int never_used(int value) { return value + 1; }

}  // namespace rowops
