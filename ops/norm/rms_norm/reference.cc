// The contract of rms_norm in double: what every variant is held against.

#include <cmath>

#include "ops/norm/rms_norm/contract.h"
#include "ops/norm/rms_reference.h"
#include "src/cpu/threads.h"

namespace einkorn {
namespace {

/// h = x + residual of one row.
template <class X>
void load_row(const RmsNorm::Args& args, const void* x, const void* residual, rms::Values& h) {
  for (std::size_t i = 0; i < h.size(); ++i) h[i] = X::load(x, static_cast<std::int64_t>(i));
  if (args.residual.defined()) rms::add_row(residual, args.residual.dtype(), h);
}

template <class X>
void run(const RmsNorm::Args& args, std::int64_t rows, std::int64_t cols) {
  const rms::Values scale = rms::scales<X>(args, cols);
  const rms::Rows x(args.x, rows);
  const rms::Rows y(args.y, rows);
  const rms::Rows residual(args.residual, rows);
  const rms::Rows residual_out(args.residual_out, rows);
  cpu::parallel_for(0, rows, 1 + (1 << 14) / cols, [&](std::int64_t begin, std::int64_t end) {
    rms::Values h(rms::index(cols));
    for (std::int64_t row = begin; row < end; ++row) {
      load_row<X>(args, x.row(row), residual.row(row), h);
      if (args.residual_out.defined()) {
        rms::store_row(h, residual_out.row(row), args.residual_out.dtype());
      }
      double squares = 0;
      for (const double value : h) squares += value * value;
      const double r = 1 / std::sqrt(squares / static_cast<double>(cols) + args.eps);
      if (args.rstd.defined()) {
        cpu::visit_float(args.rstd.dtype(),
                         [&](auto type) { decltype(type)::store(args.rstd.data(), row, r); });
      }
      for (std::size_t i = 0; i < h.size(); ++i) {
        h[i] = rms::normalised<X>(h[i], r, args.rounding) * scale[i];
      }
      rms::store_row(h, y.row(row), args.y.dtype());
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
