#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string_view>
#include <utility>

#include <einkorn/device.h>
#include <einkorn/dims.h>
#include <einkorn/dtype.h>
#include <einkorn/error.h>
#include <einkorn/tensor.h>

/// Shapes, dtypes, devices, strides and alignment of arguments, checked by name:
///
///     Leading lead;
///     Dim cols{"cols", Range{1, 262144}};
///     DTypeVar dtype{"dtype", {kF32, kF16, kBF16}};
///     DeviceVar device;
///     match("rms_norm", "x", x).shape(lead, cols).dtype(dtype).on(device).last_contiguous()
///         .verify();
///     match("rms_norm", "weight", w).optional().shape(cols).dtype(dtype, kF32).on(device)
///         .contiguous().verify();
///
/// The first tensor binds a name, the later ones have to agree. A tensor that fails leaves every
/// name as it was. Success allocates nothing. All names and hints are held as pointers: give
/// string literals, or strings that outlive the matcher and its names.
namespace einkorn {

/// The rules of a matcher, in its own storage. Built through TensorMatcher and match().
struct MatchRules {
  static constexpr int kUnset = -1;
  static constexpr int kAllDims = kMaxRank;
  /// A leading entry may stand for no dimension at all, hence one more than the rank.
  using Pattern = std::array<DimSpec, kMaxRank + 1>;

  explicit MatchRules(std::string_view op_name) : op(op_name) {}

  void set_pattern(Pattern& pattern, int& count, std::span<const DimSpec> specs);
  /// Internal error unless both are positive powers of two.
  void set_alignment(std::int64_t pointer, std::int64_t stride) {
    EK_ICHECK(pointer > 0 && (pointer & (pointer - 1)) == 0, "an alignment is a power of two");
    EK_ICHECK(stride > 0 && (stride & (stride - 1)) == 0, "an alignment is a power of two");
    pointer_alignment = pointer;
    stride_alignment = stride;
  }
  /// True when the tensor is there and matches, false when it is missing and may be.
  bool verify(std::string_view argument, const TensorView& tensor,
              const std::source_location& where) const;

  std::string_view op;
  std::string_view hint;
  Pattern shape;
  Pattern strides;
  int shape_count = kUnset;
  int stride_count = kUnset;
  DTypeVar* dtype_var = nullptr;
  DeviceVar* device_var = nullptr;
  DTypeSet dtypes;
  Device device;
  bool device_fixed = false;
  bool device_kind_fixed = false;
  bool is_optional = false;
  bool is_writable = false;
  int contiguous_dims = 0;         ///< so many last dims form a gapless block
  int collapse_trailing = kUnset;  ///< dims before so many last ones collapse to one
  std::int64_t pointer_alignment = 1;
  std::int64_t stride_alignment = 1;
};

/// The rules' vocabulary, shared by TensorMatcher and match(). A rule given twice: the last counts,
/// but for dtypes, which add up.
template <class Derived>
class MatchBuilder {
 public:
  explicit MatchBuilder(std::string_view op) : rules_(op) {}

  /// Sizes, one entry a dimension. Without it any shape matches.
  template <class... Specs>
    requires(std::constructible_from<DimSpec, Specs&&> && ...)
  [[nodiscard]] Derived& shape(Specs&&... specs) {
    static_assert(sizeof...(specs) <= kMaxRank + 1, "a tensor has at most kMaxRank dimensions");
    return set(rules_.shape, rules_.shape_count, std::forward<Specs>(specs)...);
  }
  [[nodiscard]] Derived& shape(std::span<const DimSpec> specs) {
    rules_.set_pattern(rules_.shape, rules_.shape_count, specs);
    return self();
  }

  /// Strides in elements, one entry a dimension, or kEllipsis and one for each of the last
  /// dimensions. Not looked at where the size is 1, nor in an empty tensor.
  template <class... Specs>
    requires(std::constructible_from<DimSpec, Specs&&> && ...)
  [[nodiscard]] Derived& strides(Specs&&... specs) {
    static_assert(sizeof...(specs) <= kMaxRank + 1, "a tensor has at most kMaxRank dimensions");
    return set(rules_.strides, rules_.stride_count, std::forward<Specs>(specs)...);
  }
  [[nodiscard]] Derived& strides(std::span<const DimSpec> specs) {
    rules_.set_pattern(rules_.strides, rules_.stride_count, specs);
    return self();
  }

  /// One of these dtypes.
  template <std::same_as<DType>... Dtypes>
  [[nodiscard]] Derived& dtype(DType first, Dtypes... others) {
    rules_.dtypes.mask |= (DTypeSet::bit(first) | ... | DTypeSet::bit(others));
    return self();
  }
  /// The shared dtype (bound when unbound), or one of `others`, which bind nothing.
  template <std::same_as<DType>... Dtypes>
  [[nodiscard]] Derived& dtype(DTypeVar& shared, Dtypes... others) {
    rules_.dtype_var = &shared;
    rules_.dtypes.mask |= (0U | ... | DTypeSet::bit(others));
    return self();
  }

  /// The shared device (bound when unbound), one device, or any device of a kind.
  [[nodiscard]] Derived& on(DeviceVar& shared) {
    rules_.device_var = &shared;
    return self();
  }
  [[nodiscard]] Derived& on(Device device) {
    rules_.device = device;
    rules_.device_fixed = true;
    return self();
  }
  [[nodiscard]] Derived& on(DeviceKind kind) {
    rules_.device.kind = kind;
    rules_.device_kind_fixed = true;
    return self();
  }

  /// Row-major without gaps.
  [[nodiscard]] Derived& contiguous() {
    rules_.contiguous_dims = MatchRules::kAllDims;
    return self();
  }
  /// The last `dims` dimensions form a gapless row-major block.
  [[nodiscard]] Derived& last_contiguous(int dims = 1) {
    rules_.contiguous_dims = dims;
    return self();
  }
  /// All dimensions before the last `trailing_dims` can be walked with one stride; see
  /// collapsed_row_stride().
  [[nodiscard]] Derived& collapsible_rows(int trailing_dims = 1) {
    rules_.collapse_trailing = trailing_dims;
    return self();
  }

  /// Alignment in bytes of the first element, and of every stride but the last dimension's (sizes
  /// of 1 ignored): what vector access to rows needs. Powers of two. The pointer is always held
  /// to the size of its element.
  [[nodiscard]] Derived& aligned(std::int64_t bytes) { return aligned(bytes, bytes); }
  [[nodiscard]] Derived& aligned(std::int64_t pointer_bytes, std::int64_t stride_bytes) {
    rules_.set_alignment(pointer_bytes, stride_bytes);
    return self();
  }

  /// "No tensor" is fine; verify() then returns false.
  [[nodiscard]] Derived& optional() {
    rules_.is_optional = true;
    return self();
  }
  /// An output: no two elements may share memory, so broadcast dimensions are refused.
  [[nodiscard]] Derived& writable() {
    rules_.is_writable = true;
    return self();
  }
  /// Replaces the message's own hint.
  [[nodiscard]] Derived& hint(std::string_view text) {
    rules_.hint = text;
    return self();
  }

 protected:
  ~MatchBuilder() = default;
  MatchBuilder(const MatchBuilder&) = default;
  MatchBuilder& operator=(const MatchBuilder&) = default;

  MatchRules rules_;

 private:
  Derived& self() { return static_cast<Derived&>(*this); }

  template <class... Specs>
  Derived& set(MatchRules::Pattern& pattern, int& count, Specs&&... specs) {
    int next = 0;
    // In place: a copy of an entry just written would wait for its stores.
    (std::construct_at(&pattern[static_cast<std::size_t>(next++)], std::forward<Specs>(specs)),
     ...);
    count = next;
    return self();
  }
};

/// Rules to keep and use for several tensors or calls:
///
///     TensorMatcher matrix = TensorMatcher("copy").shape(rows, cols).dtype(kF32).contiguous();
///     matrix.verify("x", x);
///     matrix.verify("y", y);
///
/// Holds no view of its arguments but the addresses of the named things. One thread at a time.
class TensorMatcher : public MatchBuilder<TensorMatcher> {
 public:
  using MatchBuilder::MatchBuilder;

  /// True when the tensor is there and matches, false when it is optional and missing.
  /// TypeError: no tensor, rank, dtype, device kind. ValueError: all else.
  bool verify(std::string_view argument, const TensorView& tensor,
              std::source_location where = std::source_location::current()) const {
    return rules_.verify(argument, tensor, where);
  }
};

/// Rules for one tensor, in one expression that ends in verify(). Not to be kept: see
/// TensorMatcher for that.
class ArgumentMatcher : public MatchBuilder<ArgumentMatcher> {
 public:
  ArgumentMatcher(std::string_view op, std::string_view argument, const TensorView& tensor)
      : MatchBuilder(op), argument_(argument), tensor_(tensor) {}
  ArgumentMatcher(const ArgumentMatcher&) = delete;
  ArgumentMatcher& operator=(const ArgumentMatcher&) = delete;

  /// As TensorMatcher::verify.
  bool verify(std::source_location where = std::source_location::current()) const {
    return rules_.verify(argument_, tensor_, where);
  }

 private:
  std::string_view argument_;
  const TensorView& tensor_;
};

[[nodiscard]] inline ArgumentMatcher match(std::string_view op, std::string_view argument,
                                           const TensorView& tensor) {
  return {op, argument, tensor};
}
/// A temporary would be gone before verify() if the matcher were kept: name it first.
ArgumentMatcher match(std::string_view op, std::string_view argument, TensorView&& tensor) = delete;

/// How an output may share memory with an input.
enum class Overlap : std::uint8_t {
  kNone,         ///< not at all
  kExactOrNone,  ///< not, or in place: same address, element size, shape and strides
};

/// ValueError when `output` shares memory with `input` in a way `allowed` forbids. Missing and
/// empty tensors, and tensors on different devices, share nothing. Tensors whose strides nest (all
/// that slicing, transposing and reshaping of one buffer give) are judged exactly, so two column
/// slices of one buffer pass; of others, those whose extents meet are refused.
void check_overlap(std::string_view op, std::string_view output_name, const TensorView& output,
                   std::string_view input_name, const TensorView& input, Overlap allowed,
                   std::source_location where = std::source_location::current());

/// The stride in elements with which all dimensions before the last `trailing_dims` can be walked
/// as one; nothing when they have no such stride. Sizes of 1 are ignored. With at most one row the
/// product of the trailing sizes.
std::optional<std::int64_t> collapsed_row_stride(const TensorView& tensor, int trailing_dims = 1);

}  // namespace einkorn
