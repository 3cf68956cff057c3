// The contract of silu_mul_bwd in double: what every variant is held against.

#include <cmath>

#include "ops/activation/gated_reference.h"
#include "ops/activation/silu_mul_bwd/contract.h"

namespace einkorn {
namespace {

struct Gradients {
  double gate = 0;
  double up = 0;
};

/// X rounds to the inputs' dtype.
template <class X>
Gradients gradients(const SiluMulBwd::Args& args, double dy, double g, double u) {
  const double alpha = args.clamp ? gated::in_f32(args.alpha) : 1;
  const double up_offset = args.clamp ? gated::in_f32(args.up_offset) : 0;
  bool gate_clamped = false;
  bool up_clamped = false;
  if (args.clamp) {
    // NaN compares false and so is not clamped.
    const double limit = gated::in_f32(args.limit);
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

template <class X, class Out>
void run(const SiluMulBwd::Args& args, const gated::Places& in, const gated::Places& out,
         std::int64_t rows, std::int64_t cols) {
  const gated::Columns dy = gated::whole(args.dy, rows);
  gated::for_each_element(rows, cols, [&](std::int64_t row, std::int64_t col) {
    const Gradients of = gradients<X>(args, X::load(dy.data, dy.at(row, col)),
                                      X::load(in.gate.data, in.gate.at(row, col)),
                                      X::load(in.up.data, in.up.at(row, col)));
    Out::store(out.gate.data, out.gate.at(row, col), of.gate);
    Out::store(out.up.data, out.up.at(row, col), of.up);
  });
}

}  // namespace

void SiluMulBwd::reference(const Args& args) {
  const std::int64_t cols = args.dy.size(-1);
  const std::int64_t rows = args.dy.numel() / cols;
  if (rows == 0) return;
  const gated::Places in = gated::places(gated::inputs_of(args), args.packing, rows);
  const gated::Places out = gated::places(gated::gradients_of(args), args.packing, rows);
  cpu::visit_float(in.dtype, [&](auto x) {
    cpu::visit_float(
        out.dtype, [&](auto type) { run<decltype(x), decltype(type)>(args, in, out, rows, cols); });
  });
}

}  // namespace einkorn
