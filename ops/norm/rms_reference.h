#pragma once

// What the references of rms_norm and its gradients share.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <einkorn/match.h>

#include "ops/norm/rms.h"
#include "src/cpu/elements.h"

namespace einkorn::rms {

using Values = std::vector<double>;

inline std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// A row of a tensor by its index, whatever the leading dimensions; no data for one left out.
struct Rows {
  char* data = nullptr;
  std::int64_t stride = 0;  ///< bytes

  Rows(const TensorView& tensor, std::int64_t rows) {
    if (!tensor.defined()) return;
    data = tensor.data_as<char>();
    if (rows > 1) stride = collapsed_row_stride(tensor).value_or(0) * bits(tensor.dtype()) / 8;
  }
  void* row(std::int64_t i) const { return data + i * stride; }
};

/// w + offset for every column: one addition in f32 (f64 for a weight in f64), rounded once more to
/// X where the contract says so; 1 without a weight.
template <class X, class Args>
Values scales(const Args& args, std::int64_t cols) {
  Values out(index(cols), 1.0);
  if (!args.weight.defined()) return out;
  cpu::visit_float(args.weight.dtype(), [&](auto weight_type) {
    using Weight = decltype(weight_type);
    for (std::int64_t i = 0; i < cols; ++i) {
      const double weight = Weight::load(args.weight.data(), i);
      const double scale =
          args.weight.dtype() == kF64
              ? weight + args.offset
              : static_cast<double>(static_cast<float>(weight) + static_cast<float>(args.offset));
      out[index(i)] = args.rounding == Rounding::kNone ? X::round(scale) : scale;
    }
  });
  return out;
}

/// h * r as the forward multiplies the weight by it.
template <class X>
double normalised(double h, double r, Rounding rounding) {
  if (rounding == Rounding::kGemma) return h * r;
  return X::round(h * (rounding == Rounding::kNone ? X::round(r) : r));
}

inline void add_row(const void* source, DType dtype, Values& out) {
  cpu::visit_float(dtype, [&](auto type) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] += decltype(type)::load(source, static_cast<std::int64_t>(i));
    }
  });
}

inline void store_row(const Values& values, void* out, DType dtype) {
  cpu::visit_float(dtype, [&](auto type) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      decltype(type)::store(out, static_cast<std::int64_t>(i), values[i]);
    }
  });
}

}  // namespace einkorn::rms
