#pragma once

// Eight-bit floats by integer arithmetic, for architectures without the instructions (before
// sm_89). No device function is called, so a host compiler takes this file, too, once __device__
// is defined to nothing. Formats: OCP 8-bit floating point, rev 1.0.

namespace einkorn {

/// e4m3 has 3 bits of mantissa and no infinity, e5m2 has 2 bits. Codes above kMaxFinite, without
/// the sign: infinity in e5m2, then NaN.
template <int kMantissa>
struct Fp8Format {
  static_assert(kMantissa == 2 || kMantissa == 3);
  static constexpr unsigned kMaxFinite = kMantissa == 3 ? 0x7e : 0x7b;
  static constexpr unsigned kNan = 0x7f;
  static constexpr int kBias = kMantissa == 3 ? 7 : 15;
  static constexpr int kDropped = 23 - kMantissa;  // bits of a float's mantissa that do not fit
  static constexpr unsigned kMinNormal = (127 + 1 - kBias) << 23;  // bits of the float
  // A float this large has a last place as wide as the smallest subnormal code.
  static constexpr unsigned kCounter = (127 + 1 - kBias - kMantissa + 23) << 23;
  static constexpr float kSubnormal = __builtin_bit_cast(float, kCounter - (23u << 23));
};

/// Rounds to nearest, ties to even; too large and infinite becomes the largest finite value, NaN
/// the code 0x7f, without its sign: what cvt.rn.satfinite gives.
template <int kMantissa>
__device__ inline unsigned char encode_fp8(float x) {
  using Format = Fp8Format<kMantissa>;
  const unsigned bits = __builtin_bit_cast(unsigned, x);
  const unsigned magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return Format::kNan;
  unsigned code;
  if (magnitude < Format::kMinNormal) {
    // The addition rounds to a whole count of smallest codes, left in the low bits.
    const float counted =
        __builtin_bit_cast(float, magnitude) + __builtin_bit_cast(float, Format::kCounter);
    code = __builtin_bit_cast(unsigned, counted) - Format::kCounter;
  } else {
    // A carry out of the mantissa moves into the exponent, as it should.
    const unsigned half_less_one = (1u << (Format::kDropped - 1)) - 1;
    const unsigned odd = magnitude >> Format::kDropped & 1;
    code = ((magnitude + half_less_one + odd) >> Format::kDropped) -
           (static_cast<unsigned>(127 - Format::kBias) << kMantissa);
    if (code > Format::kMaxFinite) code = Format::kMaxFinite;
  }
  return static_cast<unsigned char>((bits >> 24 & 0x80u) | code);
}

/// Exact; NaN comes without a sign.
template <int kMantissa>
__device__ inline float decode_fp8(unsigned char code) {
  using Format = Fp8Format<kMantissa>;
  const unsigned sign = static_cast<unsigned>(code & 0x80u) << 24;
  const unsigned magnitude = code & 0x7fu;
  if (magnitude > Format::kMaxFinite) {
    const bool infinite = kMantissa == 2 && magnitude == 0x7c;
    return __builtin_bit_cast(float, infinite ? sign | 0x7f800000u : 0x7fffffffu);
  }
  float value;
  if (magnitude < 1u << kMantissa) {
    value = static_cast<float>(magnitude) * Format::kSubnormal;
  } else {
    value = __builtin_bit_cast(float, (magnitude << Format::kDropped) +
                                          (static_cast<unsigned>(127 - Format::kBias) << 23));
  }
  return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, value) | sign);
}

}  // namespace einkorn
