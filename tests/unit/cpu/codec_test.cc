// The vector conversions against those of src/core/float.h, bit by bit, for each instruction set.

// Highway includes this file once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/unit/cpu/codec_test.cc"
#include "src/cpu/hwy_targets.h"
// After the targets.
#include <hwy/foreach_target.h>
// After the list of targets.
#include "src/cpu/codec-inl.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "src/core/float.h"

HWY_BEFORE_NAMESPACE();
namespace einkorn::cpu::HWY_NAMESPACE {

/// `count` elements, a multiple of every vector's length.
template <class Codec>
HWY_ATTR void narrow_all(const float* source, std::uint16_t* out, std::size_t count) {
  for (std::size_t i = 0; i < count; i += hn::Lanes(F32Tag())) {
    Codec::store(F32Codec::load(source + i), out + i);
  }
}
template <class Codec>
HWY_ATTR void widen_all(const std::uint16_t* source, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; i += hn::Lanes(F32Tag())) {
    F32Codec::store(Codec::load(source + i), out + i);
  }
}
/// Twice `count` elements, alternately of the two.
template <class Codec>
HWY_ATTR void interleave_all(const float* even, const float* odd, typename Codec::Raw* out,
                             std::size_t count) {
  for (std::size_t i = 0; i < count; i += hn::Lanes(F32Tag())) {
    Codec::store_pairs(F32Codec::load(even + i), F32Codec::load(odd + i), out + 2 * i);
  }
}
HWY_ATTR void interleave(bool f16, const float* even, const float* odd, std::uint16_t* out,
                         std::size_t count) {
  f16 ? interleave_all<F16Codec>(even, odd, out, count)
      : interleave_all<BF16Codec>(even, odd, out, count);
}
HWY_ATTR void interleave_f32(const float* even, const float* odd, float* out, std::size_t count) {
  interleave_all<F32Codec>(even, odd, out, count);
}
HWY_ATTR void narrow(bool f16, const float* source, std::uint16_t* out, std::size_t count) {
  f16 ? narrow_all<F16Codec>(source, out, count) : narrow_all<BF16Codec>(source, out, count);
}
HWY_ATTR void widen(bool f16, const std::uint16_t* source, float* out, std::size_t count) {
  f16 ? widen_all<F16Codec>(source, out, count) : widen_all<BF16Codec>(source, out, count);
}

}  // namespace einkorn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace einkorn::cpu {
namespace {

HWY_EXPORT(narrow);
HWY_EXPORT(widen);
HWY_EXPORT(interleave);
HWY_EXPORT(interleave_f32);

template <class F>
void for_each_target(F&& f) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    f();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

TEST(Codec, WidensEveryPattern) {
  constexpr std::size_t kCount = 1 << 16;
  std::vector<std::uint16_t> patterns(kCount);
  for (std::size_t i = 0; i < kCount; ++i) patterns[i] = static_cast<std::uint16_t>(i);
  std::vector<float> values(kCount);
  for_each_target([&] {
    for (const bool f16 : {false, true}) {
      HWY_DYNAMIC_DISPATCH(widen)(f16, patterns.data(), values.data(), kCount);
      int wrong = 0;
      for (std::size_t i = 0; i < kCount; ++i) {
        const float want = f16 ? from_f16(patterns[i]) : from_bf16(patterns[i]);
        const bool same = std::isnan(want) ? std::isnan(values[i])
                                           : std::bit_cast<std::uint32_t>(want) ==
                                                 std::bit_cast<std::uint32_t>(values[i]);
        wrong += same ? 0 : 1;
      }
      EXPECT_EQ(wrong, 0) << (f16 ? "f16" : "bf16");
    }
  });
}

TEST(Codec, NarrowsLikeTheScalarCode) {
  // Every exponent and sign, with the mantissas around each place where the rounding turns.
  std::vector<float> values;
  for (std::uint32_t high = 0; high < (1U << 16); ++high) {
    for (const std::uint32_t low :
         {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU, 0xfffU, 0x1000U, 0x1001U, 0x3000U, 0x2fffU,
          0x5000U, 0xb001U, 0xf000U, 0xefffU, 0x9000U}) {
      values.push_back(std::bit_cast<float>(high << 16 | low));
    }
  }
  std::vector<std::uint16_t> got(values.size());
  for_each_target([&] {
    for (const bool f16 : {false, true}) {
      HWY_DYNAMIC_DISPATCH(narrow)(f16, values.data(), got.data(), values.size());
      int wrong = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto value = static_cast<double>(values[i]);
        const std::uint16_t want = f16 ? to_f16(value) : to_bf16(value);
        const bool nan = std::isnan(f16 ? from_f16(got[i]) : from_bf16(got[i]));
        if (std::isnan(value) ? nan : want == got[i]) continue;
        if (++wrong <= 3) ADD_FAILURE() << value << " gave " << got[i] << ", want " << want;
      }
      EXPECT_EQ(wrong, 0) << (f16 ? "f16" : "bf16");
    }
  });
}

TEST(Codec, StoresPairsAsItStoresEach) {
  constexpr std::size_t kCount = 1 << 12;
  std::vector<float> even(kCount), odd(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    // Every sign and exponent, and a mantissa that rounds up in both types.
    even[i] = std::bit_cast<float>(static_cast<std::uint32_t>(i) << 20 | 0xfedcbU);
    odd[i] = -even[kCount - 1 - i];
  }
  std::vector<std::uint16_t> first(kCount), second(kCount), pairs(2 * kCount);
  std::vector<float> wide(2 * kCount);
  for_each_target([&] {
    for (const bool f16 : {false, true}) {
      HWY_DYNAMIC_DISPATCH(narrow)(f16, even.data(), first.data(), kCount);
      HWY_DYNAMIC_DISPATCH(narrow)(f16, odd.data(), second.data(), kCount);
      HWY_DYNAMIC_DISPATCH(interleave)(f16, even.data(), odd.data(), pairs.data(), kCount);
      int wrong = 0;
      for (std::size_t i = 0; i < kCount; ++i) {
        wrong += pairs[2 * i] == first[i] && pairs[2 * i + 1] == second[i] ? 0 : 1;
      }
      EXPECT_EQ(wrong, 0) << (f16 ? "f16" : "bf16");
    }
    HWY_DYNAMIC_DISPATCH(interleave_f32)(even.data(), odd.data(), wide.data(), kCount);
    int wrong = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
      const bool same = bits(wide[2 * i]) == bits(even[i]) && bits(wide[2 * i + 1]) == bits(odd[i]);
      wrong += same ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0) << "f32";
  });
}

}  // namespace
}  // namespace einkorn::cpu
#endif  // HWY_ONCE
