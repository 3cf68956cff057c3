#pragma once

// Element types as bits, converted by the instructions themselves: the toolkit's own headers cost
// 22 ms of every compilation, these none. Compiles under NVRTC and nvcc, sm_80 and newer. The
// eight-bit floats are in fp8.cuh.

namespace einkorn {

using i8 = signed char;
using u8 = unsigned char;
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

template <class T>
inline constexpr bool is_fp8 = false;  // true for the types of fp8.cuh

__device__ constexpr float infinity() { return __builtin_bit_cast(float, 0x7f800000u); }

/// Exact, but for int beyond 2^24, which rounds to nearest even. Integers convert implicitly.
__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(f16 x) {
  float out;
  asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(x.bits));
  return out;
}
// __builtin_bit_cast, not __uint_as_float: that is a function of a library, which takes the
// compiler half a millisecond in a kernel like rms_norm's.
__device__ inline float to_float(bf16 x) { return __builtin_bit_cast(float, u32{x.bits} << 16); }

/// Rounds to nearest, ties to even. Beyond the largest value: infinity for f16 and bf16, the
/// largest value for integers and fp8. NaN stays NaN; for integers it becomes 0 (PTX ISA, "cvt").
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
template <>
__device__ inline int from_float<int>(float x) {
  return __float2int_rn(x);
}
template <>
__device__ inline i8 from_float<i8>(float x) {
  int out;
  asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(out) : "f"(x));
  return static_cast<i8>(out);
}
template <>
__device__ inline u8 from_float<u8>(float x) {
  u32 out;
  asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(out) : "f"(x));
  return static_cast<u8>(out);
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

/// The inverse: x of the result is the lower one.
template <class T>
__device__ float2 unpack2(u32 pair);
template <>
__device__ inline float2 unpack2<f16>(u32 pair) {
  return {to_float(f16{static_cast<u16>(pair)}), to_float(f16{static_cast<u16>(pair >> 16)})};
}
template <>
__device__ inline float2 unpack2<bf16>(u32 pair) {
  return {__builtin_bit_cast(float, pair << 16), __builtin_bit_cast(float, pair & 0xffff0000u)};
}

/// The value after a trip through T: where a contract rounds an intermediate result.
template <class T>
__device__ inline float round_to(float x) {
  return to_float(from_float<T>(x));
}

}  // namespace einkorn
