#include "src/core/match_text.h"

#include <limits>

#include <fmt/format.h>

namespace einkorn {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::string text(Range range) {
  if (range.max == kHighest) return fmt::format("at least {}", range.min);
  if (range.min == kLowest) return fmt::format("at most {}", range.max);
  return fmt::format("in [{}, {}]", range.min, range.max);
}

std::string bounds(const Dim& dim) {
  std::string result = text(dim.range());
  if (dim.divisor() != 1) result += fmt::format(" and divisible by {}", dim.divisor());
  return result;
}

std::string text(const DimExpr& expr) {
  std::string result{expr.a->name()};
  if (expr.b != nullptr) result += fmt::format(" * {}", expr.b->name());
  if (expr.factor != 1) result += fmt::format(" * {}", expr.factor);
  if (expr.divisor == 1) return result;
  result += fmt::format(" / {}", expr.divisor);
  return expr.round_up ? fmt::format("ceil({})", result) : result;
}

std::string text(const DimSpec& spec) {
  switch (spec.kind()) {
    case DimSpec::Kind::kFree:
      return "any";
    case DimSpec::Kind::kFixed:
      return fmt::format("{}", spec.fixed());
    case DimSpec::Kind::kRange:
      return text(spec.range());
    case DimSpec::Kind::kNamed:
      return std::string(spec.dim().name());
    case DimSpec::Kind::kExpr:
      return text(spec.expr());
    case DimSpec::Kind::kLead:
      return std::string(spec.leading().name());
    case DimSpec::Kind::kRest:
      break;
  }
  return "...";
}

std::string text(std::span<const DimSpec> pattern) {
  std::string result;
  for (const DimSpec& spec : pattern) {
    if (!result.empty()) result += ", ";
    result += text(spec);
  }
  return fmt::format("({})", result);
}

std::string text(DTypeSet set) {
  std::string result;
  int count = 0;
  for (DType dtype : all_dtypes()) {
    if (!set.has(dtype)) continue;
    if (count++ > 0) result += ", ";
    result += name(dtype);
  }
  return count > 1 ? "one of " + result : result;
}

std::string_view text(DeviceKind kind) { return kind == DeviceKind::kCpu ? "cpu" : "cuda"; }

}  // namespace einkorn
