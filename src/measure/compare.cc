#include <algorithm>
#include <cmath>
#include <limits>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/float.h"
#include "src/measure/check.h"
#include "src/measure/runs.h"

namespace einkorn::measure {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The smallest magnitude that rounds to infinity: the largest finite value plus half a step.
/// Infinity where that does not apply.
double overflow_threshold(DType dtype) {
  switch (dtype) {
    case kF32:
      return 0x1.ffffffp127;
    case kBF16:
      return 0x1.ffp127;
    case kF16:
      return 65520;
    case kF8E5M2:
      return 61440;
    default:
      return kInfinity;
  }
}

/// Error of one element as a multiple of what is allowed.
double element_error(double got, double want, const Tolerance& tolerance, double overflow) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  if (std::isnan(got) || std::isnan(want) || std::isinf(want)) return kInfinity;
  const double allowed = tolerance.absolute + tolerance.relative * std::abs(want);
  if (std::isinf(got)) {
    // The reference in double holds what the output's dtype cannot: there infinity is right.
    const bool overflows =
        std::signbit(got) == std::signbit(want) && std::abs(want) + allowed >= overflow;
    return overflows ? 0 : kInfinity;
  }
  const double distance = std::abs(got - want);
  return allowed > 0 ? distance / allowed : kInfinity;
}

}  // namespace

Comparison compare(const TensorView& got, const TensorView& want, const Tolerance& tolerance) {
  EK_ICHECK(std::ranges::equal(got.shape(), want.shape()),
            fmt::format("compared {} with {}", to_string(got), to_string(want)));
  EK_ICHECK(want.dtype() == kF64 && want.is_contiguous(),
            fmt::format("expected contiguous f64, got {}", to_string(want)));
  const double overflow = overflow_threshold(got.dtype());
  const auto* wanted = want.data_as<const double>();
  Comparison worst;
  for_each_run(
      got, [&](std::int64_t first, std::int64_t offset, std::int64_t count, std::int64_t stride) {
        for (std::int64_t i = 0; i < count; ++i) {
          const double value = load_as_double(got, offset + i * stride);
          const double error = element_error(value, wanted[first + i], tolerance, overflow);
          if (error > worst.error || worst.worst < 0) {
            worst = {error, first + i, value, wanted[first + i]};
          }
        }
      });
  return worst;
}

}  // namespace einkorn::measure
