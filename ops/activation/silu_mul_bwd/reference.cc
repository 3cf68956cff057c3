// The contract of silu_mul_bwd in double: what every variant is held against.

#include <cmath>

#include "ops/activation/silu_mul_bwd/contract.h"
#include "ops/rows.h"
#include "src/cpu/elements.h"
#include "src/cpu/threads.h"

namespace einkorn {
namespace {

using Packing = SiluMulBwd::Packing;

/// A scalar as variants take it.
double in_f32(double value) { return static_cast<double>(static_cast<float>(value)); }

/// One tensor of N columns, or one of the two inside a packed one: element (row, col) is at
/// row * row_stride + col * col_stride from data.
struct Columns {
  char* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 1;

  std::int64_t at(std::int64_t row, std::int64_t col) const {
    return row * row_stride + col * col_stride;
  }
};

std::int64_t row_stride(const TensorView& tensor, std::int64_t rows) {
  return rows > 1 ? collapsed_row_stride(tensor).value_or(0) : 0;
}

Columns whole(const TensorView& tensor, std::int64_t rows) {
  return {tensor.data_as<char>(), row_stride(tensor, rows), 1};
}

/// The gates (index 0) or ups (index 1) inside a packed tensor.
Columns part(const TensorView& packed, Packing packing, int index, std::int64_t rows) {
  const bool interleaved = packing == Packing::kInterleaved;
  const std::int64_t offset = index * (interleaved ? 1 : packed.size(-1) / 2);
  return {packed.data_as<char>() + offset * (bits(packed.dtype()) / 8), row_stride(packed, rows),
          interleaved ? 2 : 1};
}

struct Gradients {
  double gate = 0;
  double up = 0;
};

/// X rounds to the inputs' dtype.
template <class X>
Gradients gradients(const SiluMulBwd::Args& args, double dy, double g, double u) {
  const double alpha = args.clamp ? in_f32(args.alpha) : 1;
  const double up_offset = args.clamp ? in_f32(args.up_offset) : 0;
  bool gate_clamped = false;
  bool up_clamped = false;
  if (args.clamp) {
    // NaN compares false and so is not clamped.
    const double limit = in_f32(args.limit);
    gate_clamped = g > limit;
    up_clamped = u > limit || u < -limit;
    if (gate_clamped) g = limit;
    if (up_clamped) u = u > 0 ? limit : -limit;
  }
  const double z = alpha * g;
  const double s = 1 / (1 + std::exp(-z));
  double silu = g * s;
  if (args.rounding == SiluMulBwd::Rounding::kSilu) silu = X::round(silu);
  return {gate_clamped ? 0 : dy * (u + up_offset) * (s * (1 + z * (1 - s))),
          up_clamped ? 0 : dy * silu};
}

template <class X>
void run(const SiluMulBwd::Args& args, std::int64_t rows, std::int64_t cols) {
  const bool split = args.packing == Packing::kSplit;
  const Columns dy = whole(args.dy, rows);
  const Columns gate = split ? whole(args.gate, rows) : part(args.packed, args.packing, 0, rows);
  const Columns up = split ? whole(args.up, rows) : part(args.packed, args.packing, 1, rows);
  const Columns dgate = split ? whole(args.dgate, rows) : part(args.dpacked, args.packing, 0, rows);
  const Columns dup = split ? whole(args.dup, rows) : part(args.dpacked, args.packing, 1, rows);
  const DType out_dtype = split ? args.dgate.dtype() : args.dpacked.dtype();
  // One list of columns of all rows, so that few long rows use all threads, too.
  cpu::parallel_for(0, rows * cols, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    cpu::visit_float(out_dtype, [&](auto out_type) {
      using Out = decltype(out_type);
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t row = i / cols;
        const std::int64_t col = i % cols;
        const Gradients out =
            gradients<X>(args, X::load(dy.data, dy.at(row, col)),
                         X::load(gate.data, gate.at(row, col)), X::load(up.data, up.at(row, col)));
        Out::store(dgate.data, dgate.at(row, col), out.gate);
        Out::store(dup.data, dup.at(row, col), out.up);
      }
    });
  });
}

}  // namespace

void SiluMulBwd::reference(const Args& args) {
  const std::int64_t cols = args.dy.size(-1);
  const std::int64_t rows = args.dy.numel() / cols;
  if (rows == 0) return;
  cpu::visit_float(args.dy.dtype(), [&](auto type) { run<decltype(type)>(args, rows, cols); });
}

}  // namespace einkorn
