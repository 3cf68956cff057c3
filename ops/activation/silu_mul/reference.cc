// The contract of silu_mul in double: what every variant is held against.

#include <cmath>

#include "ops/activation/gated_reference.h"
#include "ops/activation/silu_mul/contract.h"

namespace einkorn {
namespace {

/// NaN passes, which std::min would not promise.
double clamp_above(double value, double limit) { return value > limit ? limit : value; }
double clamp_below(double value, double limit) { return value < limit ? limit : value; }

template <class X, class Y>
void run(const SiluMul::Args& args, const gated::Places& in, std::int64_t rows, std::int64_t cols) {
  const double alpha = args.clamp ? gated::in_f32(args.alpha) : 1;
  const double limit = gated::in_f32(args.limit);
  const double up_offset = args.clamp ? gated::in_f32(args.up_offset) : 0;
  const gated::Columns y = gated::whole(args.y, rows);
  gated::for_each_element(rows, cols, [&](std::int64_t row, std::int64_t col) {
    double g = X::load(in.gate.data, in.gate.at(row, col));
    double u = X::load(in.up.data, in.up.at(row, col));
    if (args.clamp) {
      g = clamp_above(g, limit);
      u = clamp_below(clamp_above(u, limit), -limit);
    }
    double silu = g * (1 / (1 + std::exp(-alpha * g)));
    if (args.rounding == SiluMul::Rounding::kSilu) silu = X::round(silu);
    Y::store(y.data, y.at(row, col), silu * (u + up_offset));
  });
}

}  // namespace

void SiluMul::reference(const Args& args) {
  const std::int64_t cols = args.y.size(-1);
  const std::int64_t rows = args.y.numel() / cols;
  if (rows == 0) return;
  const gated::Places in = gated::places(gated::inputs_of(args), args.packing, rows);
  cpu::visit_float(in.dtype, [&](auto x) {
    cpu::visit_float(args.y.dtype(),
                     [&](auto y) { run<decltype(x), decltype(y)>(args, in, rows, cols); });
  });
}

}  // namespace einkorn
