#include <einkorn/match.h>

#include <algorithm>
#include <limits>
#include <string>

#include "src/core/match_run.h"

namespace einkorn {
namespace {

/// Saturates: no size is that large, so the comparison that follows fails as it should.
std::int64_t multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::numeric_limits<std::int64_t>::max();
  return product;
}

}  // namespace

void MatchRules::set_pattern(Pattern& pattern, int& count, std::span<const DimSpec> specs) {
  EK_ICHECK(specs.size() <= pattern.size(), "a pattern has more entries than a tensor dimensions");
  std::copy(specs.begin(), specs.end(), pattern.begin());
  count = static_cast<int>(specs.size());
}

bool MatchRules::verify(std::string_view argument, const TensorView& tensor,
                        const std::source_location& where) const {
  return MatchRun(*this, argument, tensor, where).run();
}

void Dim::bind(std::string_view op, std::string_view argument, std::int64_t value,
               std::source_location where) {
  MatchRun::bind_scalar(*this, op, argument, value, where);
}

bool MatchRun::run() {
  if (!tensor_.defined()) {
    if (rules_.is_optional) return false;
    fail_missing();
  }
  // Type before value, and shape before strides: the first failure is then the one to repair.
  if (rules_.shape_count != MatchRules::kUnset) check_shape();
  check_dtype();
  check_device();
  check_data();
  check_strides();
  pending_ = 0;
  return true;
}

bool MatchRun::empty() const { return tensor_.numel() == 0; }

inline void MatchRun::bind(Binding& binding, int dim) {
  binding.bound_ = true;
  binding.from_ = argument_;
  binding.from_dim_ = static_cast<std::int8_t>(dim);
  journal_[static_cast<std::size_t>(pending_++)] = &binding;
}

inline bool MatchRun::agrees(Dim& named, std::int64_t value, int dim) {
  if (named.bound_) return named.value_ == value;
  if (!named.admits(value)) return false;
  named.value_ = value;
  bind(named, dim);
  return true;
}

bool MatchRun::agrees(const DimExpr& expr, std::int64_t value, int dim) {
  Dim* open = nullptr;
  std::int64_t known = expr.factor;
  for (Dim* factor : {expr.a, expr.b}) {
    if (factor == nullptr) continue;
    if (factor->bound_) {
      known = multiply(known, factor->value_);
    } else if (open == nullptr) {
      open = factor;
    } else {
      fail_pattern("a product of two unbound names; bind one of them first");
    }
  }
  if (open == nullptr) {
    if (expr.round_up) return value == known / expr.divisor + (known % expr.divisor > 0 ? 1 : 0);
    return known % expr.divisor == 0 && value == known / expr.divisor;
  }
  if (expr.round_up) fail_pattern("a rounded quotient of an unbound name; bind it first");
  const std::int64_t scaled = multiply(value, expr.divisor);
  return known != 0 && scaled % known == 0 && agrees(*open, scaled / known, dim);
}

inline bool MatchRun::agrees(const DimSpec& spec, std::int64_t value, int dim) {
  switch (spec.kind()) {
    case DimSpec::Kind::kFree:
      return true;
    case DimSpec::Kind::kFixed:
      return value == spec.fixed();
    case DimSpec::Kind::kRange:
      return value >= spec.range().min && value <= spec.range().max;
    case DimSpec::Kind::kNamed:
      return agrees(spec.dim(), value, dim);
    case DimSpec::Kind::kExpr:
      return agrees(spec.expr(), value, dim);
    case DimSpec::Kind::kLead:
    case DimSpec::Kind::kRest:
      break;
  }
  fail_pattern("leading dimensions that are not first");
}

inline void MatchRun::check_leading(Leading& lead, int lead_rank) {
  const auto sizes = tensor_.shape().first(static_cast<std::size_t>(lead_rank));
  if (!lead.bound_) {
    std::copy(sizes.begin(), sizes.end(), lead.sizes_.begin());
    lead.rank_ = lead_rank;
    bind(lead, 0);
    return;
  }
  if (lead.rank_ != lead_rank) fail_leading_rank(lead, tensor_.rank() - lead_rank);
  for (int dim = 0; dim < lead_rank; ++dim) {
    const auto at = static_cast<std::size_t>(dim);
    if (lead.sizes_[at] != sizes[at]) fail_leading_size(lead, dim);
  }
}

inline void MatchRun::check_shape() {
  const int first = rules_.shape_count > 0 && rules_.shape[0].leads() ? 1 : 0;
  const int trailing = rules_.shape_count - first;
  const int lead_rank = tensor_.rank() - trailing;
  if (lead_rank < 0 || (first == 0 && lead_rank != 0)) fail_rank();
  for (int i = 0; i < trailing; ++i) {
    const DimSpec& spec = rules_.shape[static_cast<std::size_t>(first + i)];
    const int dim = lead_rank + i;
    if (!agrees(spec, tensor_.shape()[static_cast<std::size_t>(dim)], dim)) fail_size(spec, dim);
  }
  if (first == 1 && rules_.shape[0].kind() == DimSpec::Kind::kLead) {
    check_leading(rules_.shape[0].leading(), lead_rank);
  }
}

inline void MatchRun::check_dtype() {
  const DType dtype = tensor_.dtype();
  const DTypeSet others = rules_.dtypes;
  if (others.has(dtype)) return;
  DTypeVar* shared = rules_.dtype_var;
  if (shared == nullptr) {
    if (others.mask != 0) fail_dtype();
    return;
  }
  if (shared->bound_) {
    if (shared->value_ != dtype) fail_dtype();
    return;
  }
  if (shared->allowed_.mask != 0 && !shared->allowed_.has(dtype)) fail_dtype();
  shared->value_ = dtype;
  bind(*shared, -1);
}

inline void MatchRun::check_device() {
  const Device device = tensor_.device();
  if (rules_.device_kind_fixed && device.kind != rules_.device.kind) fail_device();
  if (rules_.device_fixed && device != rules_.device) fail_device();
  DeviceVar* shared = rules_.device_var;
  if (shared == nullptr) return;
  if (shared->bound_) {
    if (shared->value_ != device) fail_device();
    return;
  }
  if (shared->kind_.has_value() && *shared->kind_ != device.kind) fail_device();
  shared->value_ = device;
  bind(*shared, -1);
}

inline void MatchRun::check_data() {
  const auto address = reinterpret_cast<std::uintptr_t>(tensor_.data());
  if (address == 0 && !empty()) fail_null();
  const std::int64_t element = std::max(bits(tensor_.dtype()) / 8, 1);
  const auto mask = static_cast<std::uintptr_t>(std::max(element, rules_.pointer_alignment)) - 1;
  if ((address & mask) != 0 && !empty()) fail_pointer_alignment();
}

inline void MatchRun::check_strides() {
  if (rules_.stride_count != MatchRules::kUnset) check_stride_pattern();
  if (rules_.contiguous_dims > 0) check_contiguous();
  if (rules_.stride_alignment > 1) check_stride_alignment();
  if (rules_.collapse_trailing != MatchRules::kUnset &&
      !collapsed_row_stride(tensor_, rules_.collapse_trailing)) {
    fail_collapse();
  }
  if (rules_.is_writable && !tensor_.is_contiguous() && !elements_are_distinct(tensor_)) {
    fail_writable();
  }
}

void MatchRun::check_stride_pattern() {
  const int first = rules_.stride_count > 0 && rules_.strides[0].leads() ? 1 : 0;
  if (first == 1 && rules_.strides[0].kind() == DimSpec::Kind::kLead) {
    fail_pattern("a Leading among strides; use kEllipsis");
  }
  const int trailing = rules_.stride_count - first;
  const int skipped = tensor_.rank() - trailing;
  if (skipped < 0 || (first == 0 && skipped != 0)) fail_stride_rank();
  if (empty()) return;
  for (int i = 0; i < trailing; ++i) {
    const DimSpec& spec = rules_.strides[static_cast<std::size_t>(first + i)];
    const auto at = static_cast<std::size_t>(skipped + i);
    if (tensor_.shape()[at] == 1) continue;
    if (!agrees(spec, tensor_.strides()[at], skipped + i)) fail_stride(spec, skipped + i);
  }
}

inline void MatchRun::check_contiguous() {
  const int rank = tensor_.rank();
  std::int64_t expected = 1;
  for (int dim = rank - 1; dim >= std::max(0, rank - rules_.contiguous_dims); --dim) {
    const auto at = static_cast<std::size_t>(dim);
    const std::int64_t size = tensor_.shape()[at];
    if (size != 1 && tensor_.strides()[at] != expected) {
      if (empty()) return;
      fail_contiguous();
    }
    expected *= size;
  }
}

void MatchRun::check_stride_alignment() {
  const std::int64_t width = bits(tensor_.dtype());
  for (int dim = 0; dim + 1 < tensor_.rank(); ++dim) {
    const auto at = static_cast<std::size_t>(dim);
    // Bits in unsigned arithmetic: strides of empty tensors are unbounded, and the alignment is a
    // power of two, so wrapping changes nothing.
    const auto step =
        static_cast<std::uint64_t>(tensor_.strides()[at]) * static_cast<std::uint64_t>(width);
    const auto mask = static_cast<std::uint64_t>(rules_.stride_alignment) * 8 - 1;
    if (tensor_.shape()[at] > 1 && (step & mask) != 0 && !empty()) fail_stride_alignment(dim);
  }
}

void MatchRun::bind_scalar(Dim& dim, std::string_view op, std::string_view argument,
                           std::int64_t value, const std::source_location& where) {
  const MatchRules rules(op);
  const TensorView none;
  MatchRun run(rules, argument, none, where);
  if (!run.agrees(dim, value, -1)) run.fail_scalar(dim, value);
  run.pending_ = 0;
}

}  // namespace einkorn
