// The contract of silu_mul in double: what every variant is held against.

#include <cmath>
#include <vector>

#include "ops/activation/silu_mul/contract.h"
#include "ops/rows.h"
#include "src/cpu/elements.h"
#include "src/cpu/threads.h"

namespace einkorn {
namespace {

using Packing = SiluMul::Packing;

/// A scalar as variants take it.
double in_f32(double value) { return static_cast<double>(static_cast<float>(value)); }

/// NaN passes, which std::min would not promise.
double clamp_above(double value, double limit) { return value > limit ? limit : value; }
double clamp_below(double value, double limit) { return value < limit ? limit : value; }

/// One input: element (row, col) is at row * row_stride + col * col_stride from data.
template <class X>
struct Source {
  const char* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 1;

  double at(std::int64_t row, std::int64_t col) const {
    return X::load(data, row * row_stride + col * col_stride);
  }
};

std::int64_t row_stride(const TensorView& tensor, std::int64_t rows) {
  return rows > 1 ? collapsed_row_stride(tensor).value_or(0) : 0;
}

template <class X>
void run(const SiluMul::Args& args, std::int64_t rows, std::int64_t cols) {
  Source<X> gate;
  Source<X> up;
  if (args.packing == Packing::kSplit) {
    gate = {args.gate.data_as<char>(), row_stride(args.gate, rows), 1};
    up = {args.up.data_as<char>(), row_stride(args.up, rows), 1};
  } else {
    const bool interleaved = args.packing == Packing::kInterleaved;
    const std::int64_t element = bits(args.packed.dtype()) / 8;
    gate = {args.packed.data_as<char>(), row_stride(args.packed, rows), interleaved ? 2 : 1};
    up = gate;
    up.data += (interleaved ? 1 : cols) * element;
  }
  const double alpha = args.clamp ? in_f32(args.alpha) : 1;
  const double limit = in_f32(args.limit);
  const double up_offset = args.clamp ? in_f32(args.up_offset) : 0;
  const std::int64_t y_stride = row_stride(args.y, rows);
  // One list of columns of all rows, so that few long rows use all threads, too.
  cpu::parallel_for(0, rows * cols, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    cpu::visit_float(args.y.dtype(), [&](auto y_type) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t row = i / cols;
        const std::int64_t col = i % cols;
        double g = gate.at(row, col);
        double u = up.at(row, col);
        if (args.clamp) {
          g = clamp_above(g, limit);
          u = clamp_below(clamp_above(u, limit), -limit);
        }
        double silu = g * (1 / (1 + std::exp(-alpha * g)));
        if (args.rounding == SiluMul::Rounding::kSilu) silu = X::round(silu);
        decltype(y_type)::store(args.y.data(), row * y_stride + col, silu * (u + up_offset));
      }
    });
  });
}

}  // namespace

void SiluMul::reference(const Args& args) {
  const std::int64_t cols = args.y.size(-1);
  const std::int64_t rows = args.y.numel() / cols;
  if (rows == 0) return;
  const DType dtype = args.packing == Packing::kSplit ? args.gate.dtype() : args.packed.dtype();
  cpu::visit_float(dtype, [&](auto type) { run<decltype(type)>(args, rows, cols); });
}

}  // namespace einkorn
