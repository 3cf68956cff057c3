#pragma once

// Eight-bit floats (OCP rev 1.0): e4m3 without infinities, e5m2. By PTX cvt on sm_89 and newer, by
// integer arithmetic before; the results are the same.

#include "src/cuda/device/common/fp8_bits.cuh"
#include "src/cuda/device/common/types.cuh"

namespace einkorn {

struct f8e4m3 {
  u8 bits;
};
struct f8e5m2 {
  u8 bits;
};

template <>
inline constexpr bool is_fp8<f8e4m3> = true;
template <>
inline constexpr bool is_fp8<f8e5m2> = true;

/// Two at once, in the low 16 bits; `low` goes to the lower address. Rounds to nearest, ties to
/// even, saturates to the largest finite value; NaN becomes the code 0x7f.
template <>
__device__ inline u32 pack2<f8e4m3>(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  u16 out;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(out) : "f"(high), "f"(low));
  return out;
#else
  return u32{encode_fp8<3>(low)} | u32{encode_fp8<3>(high)} << 8;
#endif
}
template <>
__device__ inline u32 pack2<f8e5m2>(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  u16 out;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(out) : "f"(high), "f"(low));
  return out;
#else
  return u32{encode_fp8<2>(low)} | u32{encode_fp8<2>(high)} << 8;
#endif
}

/// Four at once, `a` at the lowest address.
template <class T>
__device__ inline u32 pack4(float a, float b, float c, float d) {
  static_assert(is_fp8<T>);
  return pack2<T>(a, b) | pack2<T>(c, d) << 16;
}

/// Exact. Takes the low 16 bits and ignores the others.
template <>
__device__ inline float2 unpack2<f8e4m3>(u32 pair) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  u32 halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<u16>(pair)));
  return unpack2<f16>(halves);
#else
  return {decode_fp8<3>(static_cast<u8>(pair)), decode_fp8<3>(static_cast<u8>(pair >> 8))};
#endif
}
template <>
__device__ inline float2 unpack2<f8e5m2>(u32 pair) {
  // e5m2 is the upper half of an f16.
  return unpack2<f16>((pair << 8 & 0xff00u) | (pair << 16 & 0xff000000u));
}

template <>
__device__ inline f8e4m3 from_float<f8e4m3>(float x) {
  return {static_cast<u8>(pack2<f8e4m3>(x, 0))};
}
template <>
__device__ inline f8e5m2 from_float<f8e5m2>(float x) {
  return {static_cast<u8>(pack2<f8e5m2>(x, 0))};
}

__device__ inline float to_float(f8e4m3 x) { return unpack2<f8e4m3>(x.bits).x; }
__device__ inline float to_float(f8e5m2 x) { return unpack2<f8e5m2>(x.bits).x; }

}  // namespace einkorn
