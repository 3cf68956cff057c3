// The contract of qk_norm in double: what every variant is held against.

#include <cmath>

#include "ops/norm/qk_norm/contract.h"
#include "ops/norm/rms_reference.h"
#include "src/cpu/threads.h"

namespace einkorn {
namespace {

/// One of the two tensors and its weight, with what rms::scales() asks for.
struct Side {
  TensorView x, weight, y;
  int offset;
  QkNorm::Rounding rounding;
};

template <class X>
void normalise_head(const Side& side, const rms::Values& scale, double eps, const void* x,
                    std::int64_t first, void* y) {
  rms::Values h(scale.size());
  double squares = 0;
  for (std::size_t i = 0; i < h.size(); ++i) {
    h[i] = X::load(x, first + static_cast<std::int64_t>(i));
    squares += h[i] * h[i];
  }
  const double r = 1 / std::sqrt(squares / static_cast<double>(h.size()) + eps);
  cpu::visit_float(side.y.dtype(), [&](auto type) {
    for (std::size_t i = 0; i < h.size(); ++i) {
      decltype(type)::store(y, first + static_cast<std::int64_t>(i),
                            rms::normalised<X>(h[i], r, side.rounding) * scale[i]);
    }
  });
}

template <class X>
void run(const Side& side, double eps, std::int64_t rows) {
  const std::int64_t heads = side.x.size(-2);
  const std::int64_t cols = side.x.size(-1);
  const rms::Values scale = rms::scales<X>(side, cols);
  const rms::Rows x(qk_norm::tokens_of(side.x, rows), rows);
  const rms::Rows y(qk_norm::tokens_of(side.y, rows), rows);
  const std::int64_t grain = 1 + (1 << 14) / cols;
  cpu::parallel_for(0, rows * heads, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      normalise_head<X>(side, scale, eps, x.row(i / heads), i % heads * cols, y.row(i / heads));
    }
  });
}

}  // namespace

void QkNorm::reference(const Args& args) {
  const std::int64_t rows = args.q.numel() / (args.q.size(-2) * args.q.size(-1));
  if (rows == 0) return;
  cpu::visit_float(args.q.dtype(), [&](auto type) {
    using X = decltype(type);
    run<X>({args.q, args.q_weight, args.q_out, args.offset, args.rounding}, args.eps, rows);
    run<X>({args.k, args.k_weight, args.k_out, args.offset, args.rounding}, args.eps, rows);
  });
}

}  // namespace einkorn
