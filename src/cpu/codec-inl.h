// Vectors of f32 from and to memory of f32, f16 and bf16, for each instruction set. Included by
// files that foreach_target.h includes; the guard is Highway's, once for each instruction set.
#if defined(EINKORN_SRC_CPU_CODEC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EINKORN_SRC_CPU_CODEC_INL_H_
#undef EINKORN_SRC_CPU_CODEC_INL_H_
#else
#define EINKORN_SRC_CPU_CODEC_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <einkorn/dtype.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace einkorn::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32Tag = hn::ScalableTag<float>;
using U32Tag = hn::RebindToUnsigned<F32Tag>;
using U16Tag = hn::Rebind<std::uint16_t, F32Tag>;
using F32Vec = hn::Vec<F32Tag>;
using U32Vec = hn::Vec<U32Tag>;
using U16Vec = hn::Vec<U16Tag>;

inline HWY_ATTR U32Vec set_u32(std::uint32_t value) { return hn::Set(U32Tag(), value); }
inline HWY_ATTR U32Vec bits_of(F32Vec value) { return hn::BitCast(U32Tag(), value); }
inline HWY_ATTR F32Vec float_of(U32Vec bits) { return hn::BitCast(F32Tag(), bits); }

/// Instructions that pass the caches write 16 bytes at least; where a vector of 16-bit elements is
/// shorter, Highway's Stream would write beyond it.
inline HWY_ATTR void stream_u16(U16Vec value, std::uint16_t* data) {
  if constexpr (hn::MaxLanes(U16Tag()) * sizeof(std::uint16_t) >= 16) {
    hn::Stream(value, U16Tag(), data);
  } else {
    hn::StoreU(value, U16Tag(), data);
  }
}

/// Pairs of 16-bit elements as numbers of 32 bits, the first of a pair in the lower half.
inline HWY_ATTR U32Vec load_u16_pairs(const std::uint16_t* data) {
#if HWY_TARGET == HWY_SCALAR
  std::uint32_t pair;
  std::memcpy(&pair, data, sizeof(pair));
  return set_u32(pair);
#else
  return hn::BitCast(U32Tag(), hn::LoadU(hn::Repartition<std::uint16_t, F32Tag>(), data));
#endif
}

/// The inverse.
inline HWY_ATTR void store_u16_pairs(U32Vec pairs, std::uint16_t* data) {
#if HWY_TARGET == HWY_SCALAR
  const std::uint32_t pair = hn::GetLane(pairs);
  std::memcpy(data, &pair, sizeof(pair));
#else
  const hn::Repartition<std::uint16_t, F32Tag> tag;
  hn::StoreU(hn::BitCast(tag, pairs), tag, data);
#endif
}

/// Each codec: Raw (an element in memory); load and store of Lanes(F32Tag()) elements at any
/// address; load_pairs and store_pairs, twice as many, the even ones and the odd ones; stream, a
/// store past the caches to an address aligned to the bytes it writes; round, to the type and back.
/// Rounding is to nearest even, NaN stays NaN, overflow gives infinity.
struct F32Codec {
  using Raw = float;
  static HWY_ATTR F32Vec load(const Raw* data) { return hn::LoadU(F32Tag(), data); }
  static HWY_ATTR void load_pairs(const Raw* data, F32Vec& even, F32Vec& odd) {
    hn::LoadInterleaved2(F32Tag(), data, even, odd);
  }
  static HWY_ATTR void store(F32Vec value, Raw* data) { hn::StoreU(value, F32Tag(), data); }
  static HWY_ATTR void store_pairs(F32Vec even, F32Vec odd, Raw* data) {
    hn::StoreInterleaved2(even, odd, F32Tag(), data);
  }
  static HWY_ATTR void stream(F32Vec value, Raw* data) { hn::Stream(value, F32Tag(), data); }
  static HWY_ATTR F32Vec round(F32Vec value) { return value; }
};

struct BF16Codec {
  using Raw = std::uint16_t;
  static HWY_ATTR F32Vec load(const Raw* data) {
    return float_of(hn::ShiftLeft<16>(hn::PromoteTo(U32Tag(), hn::LoadU(U16Tag(), data))));
  }
  static HWY_ATTR void load_pairs(const Raw* data, F32Vec& even, F32Vec& odd) {
    const U32Vec pairs = load_u16_pairs(data);
    even = float_of(hn::ShiftLeft<16>(pairs));
    odd = float_of(hn::And(pairs, set_u32(0xffff0000U)));
  }
  static HWY_ATTR void store(F32Vec value, Raw* data) { hn::StoreU(narrow(value), U16Tag(), data); }
  static HWY_ATTR void store_pairs(F32Vec even, F32Vec odd, Raw* data) {
    store_u16_pairs(hn::Or(hn::ShiftRight<16>(rounded_bits(even)),
                           hn::And(rounded_bits(odd), set_u32(0xffff0000U))),
                    data);
  }
  static HWY_ATTR void stream(F32Vec value, Raw* data) { stream_u16(narrow(value), data); }
  static HWY_ATTR F32Vec round(F32Vec value) {
    return float_of(hn::And(rounded_bits(value), set_u32(0xffff0000U)));
  }

 private:
  /// The upper 16 bits are the result. Adding just under half, and the rest of it where the lowest
  /// kept bit is 1, carries into that bit exactly when it has to.
  static HWY_ATTR U32Vec rounded_bits(F32Vec value) {
    const U32Vec bits = bits_of(value);
    const U32Vec lowest = hn::And(hn::ShiftRight<16>(bits), set_u32(1));
    const U32Vec rounded = hn::Add(hn::Add(bits, set_u32(0x7fff)), lowest);
    // A NaN's mantissa might carry over into infinity or zero; the quiet bit keeps it a NaN.
    const U32Vec quiet = hn::Or(bits, set_u32(0x00400000));
    return hn::IfThenElse(hn::RebindMask(U32Tag(), hn::IsNaN(value)), quiet, rounded);
  }
  static HWY_ATTR U16Vec narrow(F32Vec value) {
    return hn::TruncateTo(U16Tag(), hn::ShiftRight<16>(rounded_bits(value)));
  }
};

struct F16Codec {
  using Raw = std::uint16_t;
  static HWY_ATTR F32Vec load(const Raw* data) { return widen(hn::LoadU(U16Tag(), data)); }
  static HWY_ATTR void load_pairs(const Raw* data, F32Vec& even, F32Vec& odd) {
    const U32Vec pairs = load_u16_pairs(data);
    even = widen(hn::TruncateTo(U16Tag(), pairs));
    odd = widen(hn::TruncateTo(U16Tag(), hn::ShiftRight<16>(pairs)));
  }
  static HWY_ATTR void store(F32Vec value, Raw* data) { hn::StoreU(narrow(value), U16Tag(), data); }
  static HWY_ATTR void store_pairs(F32Vec even, F32Vec odd, Raw* data) {
    const U32Vec high = hn::ShiftLeft<16>(hn::PromoteTo(U32Tag(), narrow(odd)));
    store_u16_pairs(hn::Or(hn::PromoteTo(U32Tag(), narrow(even)), high), data);
  }
  static HWY_ATTR void stream(F32Vec value, Raw* data) { stream_u16(narrow(value), data); }
  static HWY_ATTR F32Vec round(F32Vec value) { return widen(narrow(value)); }

 private:
// AVX2 comes with F16C. Without it Highway's emulation does not round to nearest even.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
  using F16Tag = hn::Rebind<hwy::float16_t, F32Tag>;
  static HWY_ATTR F32Vec widen(U16Vec bits) {
    return hn::PromoteTo(F32Tag(), hn::BitCast(F16Tag(), bits));
  }
  static HWY_ATTR U16Vec narrow(F32Vec value) {
    return hn::BitCast(U16Tag(), hn::DemoteTo(F16Tag(), value));
  }
#else
  static HWY_ATTR F32Vec widen(U16Vec half) {
    const U32Vec bits = hn::PromoteTo(U32Tag(), half);
    const U32Vec sign = hn::ShiftLeft<16>(hn::And(bits, set_u32(0x8000)));
    // Exponent and mantissa in f32's places, the exponent still with f16's bias.
    const U32Vec magnitude = hn::ShiftLeft<13>(hn::And(bits, set_u32(0x7fff)));
    constexpr std::uint32_t kRebias = (127U - 15U) << 23;
    const U32Vec normal = hn::Add(magnitude, set_u32(kRebias));
    // Infinity and NaN: the largest exponent of one to that of the other.
    const U32Vec special = hn::Add(normal, set_u32(kRebias));
    // Subnormal: m * 2^-24, as 2^-14 * (1 + m / 1024) - 2^-14, which is exact.
    constexpr std::uint32_t kSmallestNormal = 113U << 23;
    const F32Vec subnormal = hn::Sub(float_of(hn::Or(magnitude, set_u32(kSmallestNormal))),
                                     float_of(set_u32(kSmallestNormal)));
    const auto is_special = hn::Gt(magnitude_as_int(magnitude), int_limit((0x7c00U << 13) - 1));
    const auto is_subnormal = hn::Lt(magnitude_as_int(magnitude), int_limit(0x0400U << 13));
    const F32Vec finite =
        hn::IfThenElse(hn::RebindMask(F32Tag(), is_subnormal), subnormal, float_of(normal));
    const F32Vec result =
        hn::IfThenElse(hn::RebindMask(F32Tag(), is_special), float_of(special), finite);
    return hn::Or(result, float_of(sign));
  }
  static HWY_ATTR U16Vec narrow(F32Vec value) {
    const U32Vec bits = bits_of(value);
    const U32Vec magnitude = hn::And(bits, set_u32(0x7fffffff));
    const U32Vec sign = hn::ShiftRight<16>(hn::And(bits, set_u32(0x80000000U)));
    // As for bf16, with the exponent's bias changed on the way; carries reach infinity by
    // themselves.
    const U32Vec lowest = hn::And(hn::ShiftRight<13>(magnitude), set_u32(1));
    constexpr std::uint32_t kRebias = (127U - 15U) << 23;
    const U32Vec normal = hn::ShiftRight<13>(
        hn::Add(hn::Sub(hn::Add(magnitude, set_u32(0xfff)), set_u32(kRebias)), lowest));
    // Below 2^-14: beside 0.5 the unit of an f32 is 2^-24, f16's smallest subnormal, so the
    // addition rounds.
    const U32Vec half = bits_of(hn::Set(F32Tag(), 0.5F));
    const U32Vec subnormal =
        hn::Sub(bits_of(hn::Add(float_of(magnitude), hn::Set(F32Tag(), 0.5F))), half);
    const auto as_int = magnitude_as_int(magnitude);
    const auto is_subnormal = hn::RebindMask(U32Tag(), hn::Lt(as_int, int_limit(113U << 23)));
    const auto is_beyond = hn::RebindMask(U32Tag(), hn::Gt(as_int, int_limit((143U << 23) - 1)));
    const auto is_nan = hn::RebindMask(U32Tag(), hn::IsNaN(value));
    U32Vec result = hn::IfThenElse(is_subnormal, subnormal, normal);
    result = hn::IfThenElse(is_beyond, set_u32(0x7c00), result);
    result = hn::IfThenElse(is_nan, set_u32(0x7e00), result);
    return hn::TruncateTo(U16Tag(), hn::Or(result, sign));
  }
  // Magnitudes have no sign bit, and signed comparisons are what every instruction set has.
  using I32Tag = hn::RebindToSigned<F32Tag>;
  static HWY_ATTR hn::Vec<I32Tag> magnitude_as_int(U32Vec magnitude) {
    return hn::BitCast(I32Tag(), magnitude);
  }
  static HWY_ATTR hn::Vec<I32Tag> int_limit(std::uint32_t value) {
    return hn::Set(I32Tag(), static_cast<std::int32_t>(value));
  }
#endif
};

/// The `count` < Lanes first elements of a row's rest, zeros behind them; reads nothing further.
template <class Codec>
HWY_ATTR F32Vec load_tail(const typename Codec::Raw* data, std::size_t count) {
  HWY_ALIGN typename Codec::Raw lanes[hn::MaxLanes(F32Tag())] = {};
  std::memcpy(lanes, data, count * sizeof(lanes[0]));
  return Codec::load(lanes);
}

/// Writes the first `count` < Lanes elements and nothing further.
template <class Codec>
HWY_ATTR void store_tail(F32Vec value, typename Codec::Raw* data, std::size_t count) {
  HWY_ALIGN typename Codec::Raw lanes[hn::MaxLanes(F32Tag())];
  Codec::store(value, lanes);
  std::memcpy(data, lanes, count * sizeof(lanes[0]));
}

/// f(codec) for f32, f16 or bf16.
template <class F>
HWY_ATTR void visit_codec(DType dtype, F&& f) {
  switch (dtype) {
    case kF32:
      return f(F32Codec{});
    case kF16:
      return f(F16Codec{});
    default:
      return f(BF16Codec{});
  }
}

}  // namespace einkorn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // EINKORN_SRC_CPU_CODEC_INL_H_
