// The contract of rms_norm_bwd in double: what every variant is held against.

#include <cmath>

#include "ops/norm/rms_norm_bwd/contract.h"
#include "ops/norm/rms_reference.h"
#include "src/cpu/threads.h"

namespace einkorn {
namespace {

using Args = RmsNormBwd::Args;
using rms::index;
using rms::Rows;
using rms::Values;

/// r of every row.
template <class X>
Values reciprocals(const Args& args, const Rows& x, std::int64_t rows, std::int64_t cols) {
  Values out(index(rows));
  if (args.rstd.defined()) {
    cpu::visit_float(args.rstd.dtype(), [&](auto type) {
      for (std::int64_t i = 0; i < rows; ++i) {
        out[index(i)] = decltype(type)::load(args.rstd.data(), i);
      }
    });
    return out;
  }
  cpu::parallel_for(0, rows, 1 + (1 << 14) / cols, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      double squares = 0;
      for (std::int64_t i = 0; i < cols; ++i) {
        const double h = X::load(x.row(row), i);
        squares += h * h;
      }
      out[index(row)] = 1 / std::sqrt(squares / static_cast<double>(cols) + args.eps);
    }
  });
  return out;
}

/// Columns side by side, each over its rows in order.
template <class X>
void sum_dweight(const Args& args, const Rows& dy, const Rows& x, const Values& reciprocal,
                 std::int64_t cols) {
  const auto rows = static_cast<std::int64_t>(reciprocal.size());
  cpu::parallel_for(0, cols, 64, [&](std::int64_t begin, std::int64_t end) {
    Values sums(index(end - begin));
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t i = begin; i < end; ++i) {
        const double h = X::load(x.row(row), i);
        sums[index(i - begin)] +=
            X::load(dy.row(row), i) * rms::normalised<X>(h, reciprocal[index(row)], args.rounding);
      }
    }
    cpu::visit_float(args.dweight.dtype(), [&](auto type) {
      for (std::int64_t i = begin; i < end; ++i) {
        decltype(type)::store(args.dweight.data(), i, sums[index(i - begin)]);
      }
    });
  });
}

/// dx of one row, unrounded, to `out`.
template <class X>
void differentiate(const void* dy, const void* x, double r, const Values& scale, Values& out) {
  const auto cols = static_cast<std::int64_t>(out.size());
  double mean = 0;
  for (std::int64_t i = 0; i < cols; ++i) {
    mean += X::load(dy, i) * scale[index(i)] * (X::load(x, i) * r);
  }
  mean /= static_cast<double>(cols);
  for (std::int64_t i = 0; i < cols; ++i) {
    const double m = X::load(dy, i) * scale[index(i)];
    out[index(i)] = r * (m - X::load(x, i) * r * mean);
  }
}

template <class X>
void run(const Args& args, std::int64_t rows, std::int64_t cols) {
  const Values scale = rms::scales<X>(args, cols);
  const Rows dy(args.dy, rows);
  const Rows x(args.x, rows);
  const Rows dx(args.dx, rows);
  const Rows residual(args.dresidual_out, rows);
  const Values reciprocal = reciprocals<X>(args, x, rows, cols);
  // Before dx, which may lie where dy does.
  if (args.dweight.defined()) sum_dweight<X>(args, dy, x, reciprocal, cols);
  cpu::parallel_for(0, rows, 1 + (1 << 14) / cols, [&](std::int64_t begin, std::int64_t end) {
    Values out(index(cols));
    for (std::int64_t row = begin; row < end; ++row) {
      differentiate<X>(dy.row(row), x.row(row), reciprocal[index(row)], scale, out);
      if (residual.data != nullptr)
        rms::add_row(residual.row(row), args.dresidual_out.dtype(), out);
      rms::store_row(out, dx.row(row), args.dx.dtype());
    }
  });
}

}  // namespace

void RmsNormBwd::reference(const Args& args) {
  const std::int64_t cols = args.x.size(-1);
  const std::int64_t rows = args.x.numel() / cols;
  cpu::visit_float(args.x.dtype(), [&](auto type) { run<decltype(type)>(args, rows, cols); });
}

}  // namespace einkorn
