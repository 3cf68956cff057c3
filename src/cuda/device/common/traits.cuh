#pragma once

// What generic kernels ask of an element type.

#include "src/cuda/device/common/fp8.cuh"
#include "src/cuda/device/common/types.cuh"

namespace einkorn {

/// kMax and kLowest are finite, and floats for every floating type. kEpsilon is the step from 1 to
/// the next value. Pair is two elements as memory and the instructions have them, the first one in
/// the low bits or in x.
template <class T>
struct TypeTraits;

template <>
struct TypeTraits<float> {
  using Pair = float2;
  static constexpr int kBytes = 4;
  static constexpr bool kIsFloat = true;
  static constexpr float kMax = 0x1.fffffep127f;
  static constexpr float kLowest = -kMax;
  static constexpr float kEpsilon = 0x1p-23f;
};

template <>
struct TypeTraits<f16> {
  using Pair = u32;
  static constexpr int kBytes = 2;
  static constexpr bool kIsFloat = true;
  static constexpr float kMax = 65504.0f;
  static constexpr float kLowest = -kMax;
  static constexpr float kEpsilon = 0x1p-10f;
};

template <>
struct TypeTraits<bf16> {
  using Pair = u32;
  static constexpr int kBytes = 2;
  static constexpr bool kIsFloat = true;
  static constexpr float kMax = 0x1.fep127f;
  static constexpr float kLowest = -kMax;
  static constexpr float kEpsilon = 0x1p-7f;
};

template <>
struct TypeTraits<f8e4m3> {
  using Pair = u16;
  static constexpr int kBytes = 1;
  static constexpr bool kIsFloat = true;
  static constexpr float kMax = 448.0f;
  static constexpr float kLowest = -kMax;
  static constexpr float kEpsilon = 0x1p-3f;
};

template <>
struct TypeTraits<f8e5m2> {
  using Pair = u16;
  static constexpr int kBytes = 1;
  static constexpr bool kIsFloat = true;
  static constexpr float kMax = 57344.0f;
  static constexpr float kLowest = -kMax;
  static constexpr float kEpsilon = 0x1p-2f;
};

template <>
struct TypeTraits<i8> {
  using Pair = char2;
  static constexpr int kBytes = 1;
  static constexpr bool kIsFloat = false;
  static constexpr i8 kMax = 127;
  static constexpr i8 kLowest = -128;
  static constexpr i8 kEpsilon = 1;
};

template <>
struct TypeTraits<u8> {
  using Pair = uchar2;
  static constexpr int kBytes = 1;
  static constexpr bool kIsFloat = false;
  static constexpr u8 kMax = 255;
  static constexpr u8 kLowest = 0;
  static constexpr u8 kEpsilon = 1;
};

template <>
struct TypeTraits<int> {
  using Pair = int2;
  static constexpr int kBytes = 4;
  static constexpr bool kIsFloat = false;
  static constexpr int kMax = 2147483647;
  static constexpr int kLowest = -kMax - 1;
  static constexpr int kEpsilon = 1;
};

}  // namespace einkorn
