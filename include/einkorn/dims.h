#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <source_location>
#include <span>
#include <string_view>

#include <einkorn/device.h>
#include <einkorn/dtype.h>
#include <einkorn/tensor.h>

/// The words of patterns: named sizes, dtypes and devices, and expressions of them; see match.h.
namespace einkorn {

/// Bounds of a size, both inclusive.
struct Range {
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

/// For strides that may be negative.
inline constexpr Range kAnyInt{std::numeric_limits<std::int64_t>::min(),
                               std::numeric_limits<std::int64_t>::max()};

/// A size that has to be divisible by `divisor` (positive).
struct MultipleOf {
  std::int64_t divisor = 1;
};

/// In a shape or stride pattern: one dimension of any size (any stride).
struct AnyDim {};
inline constexpr AnyDim kAny{};

/// First in a shape or stride pattern: any number of leading dimensions, bound to nothing.
struct AnyLeading {};
inline constexpr AnyLeading kEllipsis{};

/// What the named things of a pattern have in common: unbound until a tensor gives a value.
/// Patterns hold their address, so they are not copied and have to outlive their patterns.
class Binding {
 public:
  explicit Binding(std::string_view name) : name_(name) {}
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;

  std::string_view name() const { return name_; }
  bool bound() const { return bound_; }
  /// The argument that bound it.
  std::string_view from() const { return from_; }
  /// Forgets the value, so that kept matchers and names serve the next call.
  void reset() { bound_ = false; }

 protected:
  ~Binding() = default;
  /// An unbound value was asked for: the contract reads a name that no tensor gave.
  [[noreturn]] void throw_unbound() const;

  std::string_view name_;
  std::string_view from_;
  bool bound_ = false;
  std::int8_t from_dim_ = -1;  ///< dimension that bound it; negative for a scalar

  friend class MatchRun;
};

/// A named size or stride.
class Dim : public Binding {
 public:
  explicit Dim(std::string_view name, Range range = {}, MultipleOf multiple = {})
      : Binding(name), range_(range), divisor_(multiple.divisor) {}

  Range range() const { return range_; }
  std::int64_t divisor() const { return divisor_; }

  /// Internal error when unbound.
  std::int64_t value() const {
    if (!bound_) [[unlikely]]
      throw_unbound();
    return value_;
  }
  /// Strides of dimensions of size 1 are not looked at and may stay unbound.
  std::int64_t value_or(std::int64_t fallback) const { return bound_ ? value_ : fallback; }

  /// Binds from, or compares with, a scalar argument; errors as for a tensor's dimension.
  void bind(std::string_view op, std::string_view argument, std::int64_t value,
            std::source_location where = std::source_location::current());

  bool admits(std::int64_t value) const {
    return value >= range_.min && value <= range_.max && (divisor_ == 1 || value % divisor_ == 0);
  }

 private:
  std::int64_t value_ = 0;
  Range range_;
  std::int64_t divisor_;

  friend class MatchRun;
};

/// Any number of leading dimensions (none included); tensors that share one must agree in all of
/// them. First in its pattern.
class Leading : public Binding {
 public:
  explicit Leading(std::string_view name = "...") : Binding(name) {}

  /// Internal error when unbound.
  std::span<const std::int64_t> sizes() const {
    if (!bound_) [[unlikely]]
      throw_unbound();
    return {sizes_.data(), static_cast<std::size_t>(rank_)};
  }
  int rank() const { return static_cast<int>(sizes().size()); }
  /// Product of the sizes: 1 for none, 0 when one of them is 0.
  std::int64_t rows() const {
    std::int64_t product = 1;
    for (std::int64_t size : sizes()) product *= size;
    return product;
  }

 private:
  std::array<std::int64_t, kMaxRank> sizes_{};
  int rank_ = 0;

  friend class MatchRun;
};

/// A set of dtypes.
struct DTypeSet {
  std::uint32_t mask = 0;

  constexpr DTypeSet() = default;
  constexpr DTypeSet(std::initializer_list<DType> dtypes) {
    for (DType dtype : dtypes) mask |= bit(dtype);
  }
  static constexpr std::uint32_t bit(DType dtype) { return 1U << static_cast<unsigned>(dtype); }
  constexpr bool has(DType dtype) const { return (mask & bit(dtype)) != 0; }
};

/// A dtype that tensors share; an empty set allows every one.
class DTypeVar : public Binding {
 public:
  explicit DTypeVar(std::string_view name = "dtype", DTypeSet allowed = {})
      : Binding(name), allowed_(allowed) {}

  DTypeSet allowed() const { return allowed_; }
  /// Internal error when unbound.
  DType value() const {
    if (!bound_) [[unlikely]]
      throw_unbound();
    return value_;
  }

 private:
  DTypeSet allowed_;
  DType value_ = kF32;

  friend class MatchRun;
};

/// A device that tensors share.
class DeviceVar : public Binding {
 public:
  explicit DeviceVar(std::string_view name = "device",
                     std::optional<DeviceKind> kind = std::nullopt)
      : Binding(name), kind_(kind) {}

  std::optional<DeviceKind> kind() const { return kind_; }
  /// Internal error when unbound.
  Device value() const {
    if (!bound_) [[unlikely]]
      throw_unbound();
    return value_;
  }

 private:
  std::optional<DeviceKind> kind_;
  Device value_;

  friend class MatchRun;
};

/// `factor * a * b / divisor`, where b may be missing; the division is exact or rounds up.
/// A tensor can bind one unbound name of it, unless it rounds up.
struct DimExpr {
  Dim* a = nullptr;
  Dim* b = nullptr;
  std::int64_t factor = 1;
  std::int64_t divisor = 1;
  bool round_up = false;
};

inline DimExpr operator*(Dim& dim, std::int64_t factor) {
  return {&dim, nullptr, factor, 1, false};
}
inline DimExpr operator*(std::int64_t factor, Dim& dim) { return dim * factor; }
inline DimExpr operator*(Dim& a, Dim& b) { return {&a, &b, 1, 1, false}; }
inline DimExpr operator*(DimExpr expr, std::int64_t factor) {
  expr.factor *= factor;
  return expr;
}
inline DimExpr operator/(Dim& dim, std::int64_t divisor) {
  return {&dim, nullptr, 1, divisor, false};
}
inline DimExpr operator/(DimExpr expr, std::int64_t divisor) {
  expr.divisor *= divisor;
  return expr;
}
inline DimExpr ceil_div(Dim& dim, std::int64_t divisor) {
  return {&dim, nullptr, 1, divisor, true};
}
inline DimExpr ceil_div(DimExpr expr, std::int64_t divisor) {
  expr.divisor *= divisor;
  expr.round_up = true;
  return expr;
}

/// One entry of a shape or stride pattern: a number, a Range, kAny, a Dim, an expression of Dims,
/// or (first only) a Leading or kEllipsis.
class DimSpec {
 public:
  enum class Kind : std::uint8_t { kFree, kFixed, kRange, kNamed, kExpr, kLead, kRest };

  DimSpec() = default;
  // Implicit, all of them: they are what makes `shape(lead, cols, 128)` readable.
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  DimSpec(T size) : kind_(Kind::kFixed), min_(static_cast<std::int64_t>(size)) {}  // NOLINT
  DimSpec(AnyDim) : kind_(Kind::kFree) {}                                          // NOLINT
  DimSpec(AnyLeading) : kind_(Kind::kRest) {}                                      // NOLINT
  DimSpec(Range range) : kind_(Kind::kRange), min_(range.min), max_(range.max) {}  // NOLINT
  DimSpec(Dim& dim) : kind_(Kind::kNamed), a_(&dim) {}                             // NOLINT
  DimSpec(Leading& lead) : kind_(Kind::kLead), lead_(&lead) {}                     // NOLINT
  DimSpec(DimExpr expr)                                                            // NOLINT
      : kind_(Kind::kExpr),
        round_up_(expr.round_up),
        a_(expr.a),
        b_(expr.b),
        min_(expr.factor),
        max_(expr.divisor) {}

  Kind kind() const { return kind_; }
  bool leads() const { return kind_ == Kind::kLead || kind_ == Kind::kRest; }
  std::int64_t fixed() const { return min_; }
  Range range() const { return {min_, max_}; }
  Dim& dim() const { return *a_; }
  Leading& leading() const { return *lead_; }
  DimExpr expr() const { return {a_, b_, min_, max_, round_up_}; }

 private:
  // No initialisers: a matcher holds 18 of these and must not pay for those it does not use.
  Kind kind_;
  bool round_up_;
  union {
    Dim* a_;
    Leading* lead_;
  };
  Dim* b_;
  std::int64_t min_;
  std::int64_t max_;
};

}  // namespace einkorn
