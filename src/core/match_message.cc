#include <algorithm>
#include <array>
#include <cstdlib>

#include <einkorn/match.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/core/match_run.h"
#include "src/core/match_text.h"

namespace einkorn {
namespace {

std::span<const DimSpec> used(const MatchRules::Pattern& pattern, int count) {
  return std::span(pattern).first(static_cast<std::size_t>(count));
}

std::string form(std::string_view op, std::string_view argument, std::string_view property,
                 std::string_view expected, std::string_view got) {
  return fmt::format("{}: {}{}{}: expected {}, got {}", op, argument, property.empty() ? "" : " ",
                     property, expected, got);
}

}  // namespace

void Binding::throw_unbound() const {
  throw_internal("a bound name",
                 fmt::format("{} is read, but no tensor has given it a value", name_));
}

void MatchRun::fail_scalar(const Dim& dim, std::int64_t value) const {
  fail(ErrorKind::kValue, "", expected_dim(dim), fmt::format("{}", value), "");
}

void MatchRun::fail(ErrorKind kind, std::string_view property, std::string_view expected,
                    std::string_view got, std::string_view hint) const {
  std::string message = form(rules_.op, argument_, property, expected, got);
  if (tensor_.defined()) message += fmt::format("\n  {}: {}", argument_, to_string(tensor_));
  if (!rules_.hint.empty()) hint = rules_.hint;
  if (!hint.empty()) message += fmt::format("\n  hint: {}", hint);
  throw_error(kind, std::move(message), where_);
}

void MatchRun::fail_pattern(std::string_view what) const {
  throw_internal("a sensible pattern",
                 fmt::format("the pattern of {} for {} has {}", rules_.op, argument_, what),
                 where_);
}

/// "from x", or "from dim 0" for a name that this very tensor bound.
std::string MatchRun::origin(const Binding& binding) const {
  const bool own = std::find(journal_.begin(), journal_.begin() + pending_, &binding) !=
                   journal_.begin() + pending_;
  if (own && binding.from_dim_ >= 0) return fmt::format("from dim {}", binding.from_dim_);
  return fmt::format("from {}", binding.from_);
}

std::string MatchRun::expected_dim(const Dim& dim) const {
  if (!dim.bound_) return fmt::format("{} {}", dim.name_, bounds(dim));
  return fmt::format("{} = {} ({})", dim.name_, dim.value_, origin(dim));
}

std::string MatchRun::expected_expr(const DimExpr& expr) const {
  const std::string formula = text(expr);
  std::string values;
  std::int64_t known = expr.factor;
  const Dim* open = nullptr;
  const Dim* seen = nullptr;  // a square names its factor once
  for (const Dim* factor : {expr.a, expr.b}) {
    if (factor == nullptr || factor == seen) continue;
    seen = factor;
    if (!factor->bound_) {
      open = factor;
      continue;
    }
    if (!values.empty()) values += ", ";
    values += fmt::format("{} = {} {}", factor->name_, factor->value_, origin(*factor));
  }
  if (open != nullptr) {
    return fmt::format("{} with {} {}{}", formula, open->name_, bounds(*open),
                       values.empty() ? "" : fmt::format(" ({})", values));
  }
  for (const Dim* factor : {expr.a, expr.b}) {
    if (factor != nullptr && __builtin_mul_overflow(known, factor->value_, &known)) {
      return fmt::format("{} ({}), which is more than 2^63", formula, values);
    }
  }
  if (!expr.round_up && known % expr.divisor != 0) {
    return fmt::format("{}, which is not whole ({})", formula, values);
  }
  const std::int64_t value =
      known / expr.divisor + (expr.round_up && known % expr.divisor > 0 ? 1 : 0);
  return fmt::format("{} = {} ({})", formula, value, values);
}

std::string MatchRun::expected(const DimSpec& spec) const {
  if (spec.kind() == DimSpec::Kind::kNamed) return expected_dim(spec.dim());
  if (spec.kind() == DimSpec::Kind::kExpr) return expected_expr(spec.expr());
  return text(spec);
}

std::string MatchRun::agree_hint(const DimSpec& spec) const {
  const Dim* dim = spec.kind() == DimSpec::Kind::kNamed  ? &spec.dim()
                   : spec.kind() == DimSpec::Kind::kExpr ? spec.expr().a
                                                         : nullptr;
  if (dim == nullptr || !dim->bound_) return "";
  return fmt::format("all arguments of {} have to agree on {}", rules_.op, dim->name_);
}

void MatchRun::fail_missing() const {
  fail(ErrorKind::kType, "", "a tensor", "no tensor", "this argument may not be left out");
}

void MatchRun::fail_rank() const {
  const auto pattern = used(rules_.shape, rules_.shape_count);
  const bool leads = !pattern.empty() && pattern[0].leads();
  fail(ErrorKind::kType, "rank",
       fmt::format("{}{} for shape {}", leads ? "at least " : "",
                   pattern.size() - (leads ? 1U : 0U), text(pattern)),
       fmt::format("{}", tensor_.rank()), fmt::format("reshape it to {}", text(pattern)));
}

void MatchRun::fail_leading_rank(const Leading& lead, int trailing) const {
  fail(ErrorKind::kType, "rank",
       fmt::format("{} for shape {} with {} = ({}) ({})", lead.rank_ + trailing,
                   text(used(rules_.shape, rules_.shape_count)), lead.name_,
                   fmt::join(lead.sizes(), ", "), origin(lead)),
       fmt::format("{}", tensor_.rank()),
       fmt::format("all arguments of {} have to agree on their leading dimensions", rules_.op));
}

void MatchRun::fail_leading_size(const Leading& lead, int dim) const {
  fail(ErrorKind::kValue, fmt::format("dim {}", dim),
       fmt::format("{} ({})", lead.sizes_[static_cast<std::size_t>(dim)], origin(lead)),
       fmt::format("{}", tensor_.size(dim)),
       fmt::format("all arguments of {} have to agree on their leading dimensions", rules_.op));
}

void MatchRun::fail_size(const DimSpec& spec, int dim) const {
  const std::int64_t got = tensor_.size(dim);
  fail(ErrorKind::kValue, fmt::format("dim {}", dim), expected(spec), fmt::format("{}", got),
       agree_hint(spec));
}

void MatchRun::fail_dtype() const {
  const DTypeVar* shared = rules_.dtype_var;
  std::string expected;
  std::string hint = "convert it to one of them first";
  if (shared == nullptr) {
    expected = text(rules_.dtypes);
    if (!expected.starts_with("one of")) hint = fmt::format("convert it to {} first", expected);
  } else if (shared->bound_) {
    expected = fmt::format("{} = {} ({})", shared->name_, name(shared->value_), origin(*shared));
    if (rules_.dtypes.mask != 0) expected += fmt::format(" or {}", text(rules_.dtypes));
    hint = fmt::format("convert it to {} first", name(shared->value_));
  } else {
    DTypeSet either = rules_.dtypes;
    either.mask |= shared->allowed_.mask;
    expected = text(either);
  }
  fail(ErrorKind::kType, "dtype", expected, name(tensor_.dtype()), hint);
}

void MatchRun::fail_device() const {
  const Device got = tensor_.device();
  const DeviceVar* shared = rules_.device_var;
  const bool kind_fails = rules_.device_kind_fixed && got.kind != rules_.device.kind;
  const bool device_fails = rules_.device_fixed && got != rules_.device;
  Device wanted = rules_.device;
  std::string expected;
  if (kind_fails) {
    expected = text(wanted.kind);
  } else if (device_fails) {
    expected = to_string(wanted);
  } else if (shared->bound_) {
    wanted = shared->value_;
    expected = fmt::format("{} = {} ({})", shared->name_, to_string(wanted), origin(*shared));
  } else {
    wanted.kind = shared->kind_.value_or(wanted.kind);
    expected = text(wanted.kind);
  }
  fail(got.kind != wanted.kind ? ErrorKind::kType : ErrorKind::kValue, "device", expected,
       to_string(got), "move it there first");
}

void MatchRun::fail_null() const {
  fail(ErrorKind::kValue, "data", fmt::format("an address for {} elements", tensor_.numel()),
       "null", "only a tensor without elements needs no memory");
}

void MatchRun::fail_pointer_alignment() const {
  const std::int64_t element = std::max(bits(tensor_.dtype()) / 8, 1);
  const auto address = reinterpret_cast<std::uintptr_t>(tensor_.data());
  const bool element_fails = address % static_cast<std::uintptr_t>(element) != 0;
  const auto wanted =
      static_cast<std::uintptr_t>(element_fails ? element : rules_.pointer_alignment);
  fail(ErrorKind::kValue, "data",
       element_fails ? fmt::format("an address aligned to {} bytes, the size of an element", wanted)
                     : fmt::format("an address aligned to {} bytes", wanted),
       fmt::format("one that is {} bytes off", address % wanted),
       "copy it to a tensor of its own, which is aligned");
}

void MatchRun::fail_stride_rank() const {
  const auto pattern = used(rules_.strides, rules_.stride_count);
  const bool leads = !pattern.empty() && pattern[0].leads();
  fail(ErrorKind::kType, "rank",
       fmt::format("{}{} for strides {}", leads ? "at least " : "",
                   pattern.size() - (leads ? 1U : 0U), text(pattern)),
       fmt::format("{}", tensor_.rank()), "");
}

void MatchRun::fail_stride(const DimSpec& spec, int dim) const {
  const std::int64_t got = tensor_.stride(dim);
  fail(ErrorKind::kValue, fmt::format("stride of dim {}", dim), expected(spec),
       fmt::format("{}", got), agree_hint(spec));
}

void MatchRun::fail_contiguous() const {
  const int rank = tensor_.rank();
  const int first = std::max(0, rank - rules_.contiguous_dims);
  std::array<std::int64_t, kMaxRank> natural{};
  std::int64_t stride = 1;
  for (int dim = rank - 1; dim >= first; --dim) {
    natural[static_cast<std::size_t>(dim)] = stride;
    stride *= tensor_.size(dim);
  }
  const auto count = static_cast<std::size_t>(rank - first);
  const auto wanted = fmt::format(
      "{}", fmt::join(std::span(natural).subspan(static_cast<std::size_t>(first), count), ","));
  const auto got = fmt::format("{}", fmt::join(tensor_.strides().last(count), ","));
  const char* hint = "make a contiguous copy first";
  if (first == 0) {
    fail(ErrorKind::kValue, "strides", fmt::format("{} (contiguous)", wanted), got, hint);
  }
  if (count == 1)
    fail(ErrorKind::kValue, fmt::format("stride of dim {}", first), wanted, got, hint);
  fail(ErrorKind::kValue, fmt::format("strides of the last {} dims", count),
       fmt::format("{} (contiguous)", wanted), got, hint);
}

void MatchRun::fail_stride_alignment(int dim) const {
  const std::int64_t width = bits(tensor_.dtype());
  const std::int64_t stride = tensor_.stride(dim);
  const std::int64_t step = std::abs(stride * width);
  fail(ErrorKind::kValue, fmt::format("stride of dim {}", dim),
       fmt::format("a multiple of {} bytes", rules_.stride_alignment),
       fmt::format("{} elements of {} = {}{} bytes", stride, name(tensor_.dtype()), step / 8,
                   step % 8 == 0 ? "" : ".5"),
       "make a contiguous copy, or pad its rows");
}

void MatchRun::fail_collapse() const {
  const auto rows = static_cast<std::size_t>(tensor_.rank() - rules_.collapse_trailing);
  fail(ErrorKind::kValue, "strides",
       fmt::format("leading dimensions ({}) that one row stride can walk",
                   fmt::join(tensor_.shape().first(rows), ", ")),
       fmt::format("{}", fmt::join(tensor_.strides().first(rows), ",")),
       "make a contiguous copy first");
}

void MatchRun::fail_writable() const {
  fail(ErrorKind::kValue, "strides", "elements that each have their own memory",
       fmt::format("{}", fmt::join(tensor_.strides(), ",")),
       "an output may not be broadcast (expanded); give it memory of its own");
}

}  // namespace einkorn
