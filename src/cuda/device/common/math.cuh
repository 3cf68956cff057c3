#pragma once

// Fast functions of float, by the approximations of the hardware. Bounds are on the relative error
// unless said otherwise: of the instructions as the PTX ISA states them ("Floating point
// instructions": ex2, lg2, rsqrt, rcp, tanh), of what is composed of them as it follows; u is
// 2^-24, half a last place. The instructions, tanh apart, take subnormal arguments for 0 and give 0
// in place of a subnormal result. NaN gives NaN.

namespace einkorn {

/// 2^x within 5u: 2 last places from the rounded result. -inf: 0; +-0: 1; +inf: inf. Infinity from
/// 128 on, 0 below -126.
__device__ inline float exp2_approx(float x) {
  float out;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
}

/// e^x within 5u + 1.5u |x|: the exponent, x log2(e), has a rounded factor and is rounded itself.
/// -inf: 0; +-0: 1; +inf: inf. Infinity above 88.73, 0 below -87.34.
__device__ inline float exp_approx(float x) { return exp2_approx(x * 1.44269504f); }

/// log2(x), with an absolute error of 4u for x in (0.5, 2), within 4u elsewhere. +-0 and subnormal:
/// -inf; negative: NaN; inf: inf.
__device__ inline float log2_approx(float x) {
  float out;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
}

/// Natural logarithm: absolute error of 4u for x in (0.5, 2), within 6u elsewhere; the rest as
/// log2_approx.
__device__ inline float log_approx(float x) { return log2_approx(x) * 0.693147181f; }

/// 1 / sqrt(x) within 2^-22.9. +0: inf; -0: -inf; negative: NaN; inf: 0.
__device__ inline float rsqrt_approx(float x) {
  float out;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
}

/// 1 / x within 3u: a last place from the rounded result; 0 where |x| is above 2^126. +-0: +-inf;
/// +-inf: +-0.
__device__ inline float reciprocal_approx(float x) {
  float out;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
}

/// tanh(x) within 2^-11, one instruction. +-0: +-0, and subnormals come back as they are; +-inf:
/// +-1.
__device__ inline float tanh_approx(float x) {
  float out;
  asm("tanh.approx.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
}

/// 1 / (1 + e^-x) within 9u, and 1.5u |x| more for negative x. -inf: 0; +-0: 1/2; +inf: 1. 0 below
/// -87.34.
__device__ inline float sigmoid_approx(float x) { return reciprocal_approx(1.0f + exp_approx(-x)); }

/// x / (1 + e^-x) within 10u, and 1.5u |x| more for negative x. +-0: +-0; +inf: inf; -inf: NaN, as
/// the formula gives. -0 below -87.34, where the value is above -1.1e-36.
__device__ inline float silu_approx(float x) { return x * sigmoid_approx(x); }

}  // namespace einkorn
