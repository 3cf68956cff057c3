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

/// Whether both are finite, so that their distance is a number; `error` of what is not.
bool comparable(double got, double want, double overflow, double* error) {
  if (std::isfinite(got) && std::isfinite(want)) return true;
  *error = element_error(got, want, {}, overflow);
  return false;
}

/// Compares element by element.
class Elements {
 public:
  Elements(const Tolerance& tolerance, double overflow)
      : tolerance_(tolerance), overflow_(overflow) {}

  void add(std::int64_t index, double got, double want) {
    const double error = element_error(got, want, tolerance_, overflow_);
    if (error > worst_.error || worst_.worst < 0) worst_ = {error, index, got, want};
  }
  Comparison result() const { return worst_; }

 private:
  Tolerance tolerance_;
  double overflow_;
  Comparison worst_;
};

/// Compares an output as a whole. The worst element is the one that is farthest off.
class Whole {
 public:
  Whole(const Tolerance& tolerance, double overflow) : tolerance_(tolerance), overflow_(overflow) {}

  void add(std::int64_t index, double got, double want) {
    double error = 0;
    if (comparable(got, want, overflow_, &error)) {
      error = std::abs(got - want);
      errors_ += error * error;
      squares_ += want * want;
      ++count_;
    } else if (error > 0) {
      error = kInfinity;
    }
    if (error > worst_.error || worst_.worst < 0) worst_ = {error, index, got, want};
  }

  Comparison result() const {
    Comparison out = worst_;
    if (std::isinf(out.error) || count_ == 0 || errors_ == 0) return out;
    const auto count = static_cast<double>(count_);
    const double scale = std::max(std::sqrt(squares_ / count), tolerance_.absolute);
    const double distance = std::sqrt(errors_ / count);
    out.error = scale > 0 ? distance / scale / tolerance_.rms : kInfinity;
    return out;
  }

 private:
  Tolerance tolerance_;
  double overflow_;
  double errors_ = 0;
  double squares_ = 0;
  std::int64_t count_ = 0;
  Comparison worst_;
};

template <class Rule>
Comparison compare_by(Rule rule, const TensorView& got, const double* want) {
  for_each_run(
      got, [&](std::int64_t first, std::int64_t offset, std::int64_t count, std::int64_t stride) {
        for (std::int64_t i = 0; i < count; ++i) {
          rule.add(first + i, load_as_double(got, offset + i * stride), want[first + i]);
        }
      });
  return rule.result();
}

}  // namespace

Comparison compare(const TensorView& got, const TensorView& want, const Tolerance& tolerance) {
  EK_ICHECK(std::ranges::equal(got.shape(), want.shape()),
            fmt::format("compared {} with {}", to_string(got), to_string(want)));
  EK_ICHECK(want.dtype() == kF64 && want.is_contiguous(),
            fmt::format("expected contiguous f64, got {}", to_string(want)));
  const double overflow = overflow_threshold(got.dtype());
  const auto* wanted = want.data_as<const double>();
  if (tolerance.rms > 0) return compare_by(Whole(tolerance, overflow), got, wanted);
  return compare_by(Elements(tolerance, overflow), got, wanted);
}

}  // namespace einkorn::measure
