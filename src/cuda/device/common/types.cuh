#pragma once

// Sixteen-bit floats as bits, converted by the instructions themselves: the toolkit's own headers
// cost 22 ms of every compilation, these none. Compiles under NVRTC and nvcc, sm_80 and newer.

namespace einkorn {

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};

/// Names the absence of a tensor where a kernel template wants an element type.
struct none {};

template <class T>
inline constexpr bool is_none = false;
template <>
inline constexpr bool is_none<none> = true;

__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(f16 x) {
  float out;
  asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(x.bits));
  return out;
}
__device__ inline float to_float(bf16 x) { return __uint_as_float(u32{x.bits} << 16); }

/// Rounds to nearest, ties to even.
template <class T>
__device__ T from_float(float x);
template <>
__device__ inline float from_float<float>(float x) {
  return x;
}
template <>
__device__ inline f16 from_float<f16>(float x) {
  f16 out;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out.bits) : "f"(x));
  return out;
}
template <>
__device__ inline bf16 from_float<bf16>(float x) {
  bf16 out;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out.bits) : "f"(x));
  return out;
}

/// Two at once: one instruction for a pair; `low` goes to the lower address.
template <class T>
__device__ u32 pack2(float low, float high);
template <>
__device__ inline u32 pack2<f16>(float low, float high) {
  u32 out;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
  return out;
}
template <>
__device__ inline u32 pack2<bf16>(float low, float high) {
  u32 out;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
  return out;
}

/// The value after a trip through T: where a contract rounds an intermediate result.
template <class T>
__device__ inline float round_to(float x) {
  return to_float(from_float<T>(x));
}

}  // namespace einkorn
