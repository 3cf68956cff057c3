// The contract of rms_norm in double: what every variant is held against.

#include <cmath>
#include <type_traits>
#include <vector>

#include "ops/norm/rms_norm/contract.h"
#include "ops/rows.h"
#include "src/cpu/elements.h"
#include "src/cpu/threads.h"

namespace einkorn {
namespace {

/// A row of a tensor by its index, whatever the leading dimensions.
struct Rows {
  char* data = nullptr;
  std::int64_t stride = 0;  ///< bytes

  Rows() = default;
  Rows(const TensorView& tensor, std::int64_t rows)
      : data(tensor.data_as<char>()),
        stride(rows > 1 ? collapsed_row_stride(tensor).value_or(0) * bits(tensor.dtype()) / 8 : 0) {
  }
  void* row(std::int64_t index) const { return data + index * stride; }
};

/// w + offset for every column: one addition in f32 (f64 for a weight in f64), rounded once more
/// where the contract says so.
template <class X>
std::vector<double> scales(const RmsNorm::Args& args, std::int64_t cols) {
  std::vector<double> out(static_cast<std::size_t>(cols), 1.0);
  if (!args.weight.defined()) return out;
  cpu::visit_float(args.weight.dtype(), [&](auto weight_type) {
    using Weight = decltype(weight_type);
    for (std::int64_t i = 0; i < cols; ++i) {
      const double weight = Weight::load(args.weight.data(), i);
      const double scale =
          args.weight.dtype() == kF64
              ? weight + args.offset
              : static_cast<double>(static_cast<float>(weight) + static_cast<float>(args.offset));
      const bool rounded = args.rounding == RmsNorm::Rounding::kNone;
      out[static_cast<std::size_t>(i)] = rounded ? X::round(scale) : scale;
    }
  });
  return out;
}

/// h = x + residual of one row.
template <class X>
void load_row(const RmsNorm::Args& args, const void* x, const void* residual,
              std::vector<double>& h) {
  const auto cols = static_cast<std::int64_t>(h.size());
  for (std::int64_t i = 0; i < cols; ++i) h[static_cast<std::size_t>(i)] = X::load(x, i);
  if (residual == nullptr) return;
  cpu::visit_float(args.residual.dtype(), [&](auto residual_type) {
    using Residual = decltype(residual_type);
    for (std::int64_t i = 0; i < cols; ++i) {
      h[static_cast<std::size_t>(i)] += Residual::load(residual, i);
    }
  });
}

template <class Y>
void store_row(const std::vector<double>& values, void* y) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Y::store(y, static_cast<std::int64_t>(i), values[i]);
  }
}

void store_row(const std::vector<double>& values, void* y, DType dtype) {
  cpu::visit_float(dtype, [&](auto type) { store_row<decltype(type)>(values, y); });
}

/// Turns h into y, unrounded.
template <class X>
void normalise(RmsNorm::Rounding rounding, double r, const std::vector<double>& scale,
               std::vector<double>& h) {
  if (rounding == RmsNorm::Rounding::kNone) r = X::round(r);
  for (std::size_t i = 0; i < h.size(); ++i) {
    double normalised = h[i] * r;
    if (rounding != RmsNorm::Rounding::kGemma) normalised = X::round(normalised);
    h[i] = normalised * scale[i];
  }
}

template <class X>
void run(const RmsNorm::Args& args, std::int64_t rows, std::int64_t cols) {
  const std::vector<double> scale = scales<X>(args, cols);
  const Rows x(args.x, rows);
  const Rows y(args.y, rows);
  const Rows residual = args.residual.defined() ? Rows(args.residual, rows) : Rows();
  const Rows residual_out = args.residual_out.defined() ? Rows(args.residual_out, rows) : Rows();
  cpu::parallel_for(0, rows, 1 + (1 << 14) / cols, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> h(static_cast<std::size_t>(cols));
    for (std::int64_t row = begin; row < end; ++row) {
      load_row<X>(args, x.row(row), residual.data == nullptr ? nullptr : residual.row(row), h);
      if (residual_out.data != nullptr) {
        store_row(h, residual_out.row(row), args.residual_out.dtype());
      }
      double squares = 0;
      for (const double value : h) squares += value * value;
      const double r = 1 / std::sqrt(squares / static_cast<double>(cols) + args.eps);
      if (args.rstd.defined()) {
        cpu::visit_float(args.rstd.dtype(),
                         [&](auto type) { decltype(type)::store(args.rstd.data(), row, r); });
      }
      normalise<X>(args.rounding, r, scale, h);
      store_row(h, y.row(row), args.y.dtype());
    }
  });
}

}  // namespace

void RmsNorm::reference(const Args& args) {
  const std::int64_t cols = args.x.size(-1);
  const std::int64_t rows = args.x.numel() / cols;
  if (rows == 0) return;
  cpu::visit_float(args.x.dtype(), [&](auto type) { run<decltype(type)>(args, rows, cols); });
}

}  // namespace einkorn
