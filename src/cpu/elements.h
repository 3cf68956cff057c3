#pragma once

// Elements of a float type as doubles, the type known to the compiler: loops over a whole tensor
// choose once and then run at speed. One element of any type: src/core/float.h.

#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include <einkorn/dtype.h>
#include <einkorn/error.h>

#include "src/core/float.h"

namespace einkorn::cpu {

/// Access to elements of one dtype by index from an address; `round` to it and back.
template <DType kType>
struct Element;

template <>
struct Element<kF64> {
  static double load(const void* data, std::int64_t i) {
    return static_cast<const double*>(data)[i];
  }
  static void store(void* data, std::int64_t i, double value) {
    static_cast<double*>(data)[i] = value;
  }
  static double round(double value) { return value; }
};

template <>
struct Element<kF32> {
  static double load(const void* data, std::int64_t i) {
    return static_cast<double>(static_cast<const float*>(data)[i]);
  }
  static void store(void* data, std::int64_t i, double value) {
    static_cast<float*>(data)[i] = static_cast<float>(value);
  }
  static double round(double value) { return static_cast<double>(static_cast<float>(value)); }
};

template <>
struct Element<kF16> {
  static double load(const void* data, std::int64_t i) {
    return decode(kF16Format, static_cast<const std::uint16_t*>(data)[i]);
  }
  static void store(void* data, std::int64_t i, double value) {
    static_cast<std::uint16_t*>(data)[i] = to_f16(value);
  }
  static double round(double value) { return decode(kF16Format, to_f16(value)); }
};

template <>
struct Element<kBF16> {
  static double load(const void* data, std::int64_t i) {
    return static_cast<double>(from_bf16(static_cast<const std::uint16_t*>(data)[i]));
  }
  static void store(void* data, std::int64_t i, double value) {
    static_cast<std::uint16_t*>(data)[i] = to_bf16(value);
  }
  static double round(double value) { return static_cast<double>(from_bf16(to_bf16(value))); }
};

/// f(Element<dtype>{}) for f64, f32, f16 or bf16; any other dtype is an internal error.
template <class F>
decltype(auto) visit_float(DType dtype, F&& f) {
  switch (dtype) {
    case kF64:
      return std::forward<F>(f)(Element<kF64>{});
    case kF32:
      return std::forward<F>(f)(Element<kF32>{});
    case kF16:
      return std::forward<F>(f)(Element<kF16>{});
    default:
      EK_ICHECK(dtype == kBF16, "a float type of 16 bits or more");
      return std::forward<F>(f)(Element<kBF16>{});
  }
}

}  // namespace einkorn::cpu
