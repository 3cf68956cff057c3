#pragma once

// What contracts of row-wise ops share: how a call's tensors match, the facts of their memory
// layout that make a problem, and tensors laid out to a problem's facts.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <einkorn/fields.h>
#include <einkorn/match.h>
#include <einkorn/op.h>
#include <einkorn/tensor.h>

namespace einkorn::cpu {

/// Largest alignment that problems tell apart, bytes: the widest vector access of a GPU thread.
inline constexpr int kMaxAlign = 16;

/// Collects from a call's tensors how they lie in memory. On the path of every call.
class RowFacts {
 public:
  explicit RowFacts(std::int64_t rows) : rows_(rows) {}

  /// A tensor of rows of `cols` elements whose leading dimensions are known to collapse. With fewer
  /// than two rows the stride is never used and so not counted.
  void add_rows(const TensorView& tensor, std::int64_t cols) {
    add_address(tensor);
    if (rows_ <= 1) return;
    const std::int64_t stride = collapsed_row_stride(tensor).value_or(cols);
    strided_ |= stride != cols;
    bits_ |= static_cast<std::uint64_t>(stride * bits(tensor.dtype())) / 8;
  }
  /// A tensor that is one row for all.
  void add_address(const TensorView& tensor) {
    bits_ |= reinterpret_cast<std::uintptr_t>(tensor.data());
  }

  /// Parts of a row that follow each other so many bytes apart, whatever the stride between rows.
  void add_parts(std::int64_t bytes) { bits_ |= static_cast<std::uint64_t>(bytes); }

  /// Some tensor's rows do not follow each other without gaps.
  bool strided() const { return strided_; }
  /// The largest power of two up to kMaxAlign that divides all addresses, row strides and parts,
  /// bytes.
  int align() const { return static_cast<int>(bits_ & (~bits_ + 1)); }

 private:
  std::int64_t rows_;
  std::uint64_t bits_ = kMaxAlign;  // or of all of them: its lowest bit is theirs
  bool strided_ = false;
};

/// Dtypes of tensors, and as a key's allowed values. Of f64 see f64_refusal().
inline constexpr DTypeSet kDTypes{kF32, kF16, kBF16, kF64};
inline constexpr std::string_view kDTypeValues = "f32|f16|bf16|f64";

/// Why f64, which is for numerical derivatives, is the reference's alone.
inline std::optional<Refusal> f64_refusal(DType dtype) {
  if (dtype != kF64) return std::nullopt;
  return Refusal{"dtype f64: only the reference has it"};
}

/// The names that the tensors of one call share.
struct RowNames {
  explicit RowNames(std::int64_t max_cols, DTypeSet dtypes = kDTypes)
      : cols("cols", Range{1, max_cols}), dtype("dtype", dtypes) {}

  Leading lead;
  Dim cols;
  DTypeVar dtype;
  DeviceVar device;
};

/// A tensor of rows that one stride can walk. `cols` is a DimSpec, the last arguments are those of
/// MatchBuilder::dtype. Errors as TensorMatcher::verify().
template <class Cols, class... Dtypes>
void match_rows(std::string_view op, Role role, std::string_view argument, const TensorView& tensor,
                RowNames& names, Cols&& cols, Dtypes&&... dtypes) {
  ArgumentMatcher rows(op, argument, tensor);
  if (role == Role::kOutput) static_cast<void>(rows.writable());
  rows.shape(names.lead, std::forward<Cols>(cols))
      .dtype(dtypes...)
      .on(names.device)
      .last_contiguous()
      .collapsible_rows()
      .verify();
}

/// A tensor [cols] without gaps; the rest as of match_rows().
template <class... Dtypes>
void match_vector(std::string_view op, Role role, std::string_view argument,
                  const TensorView& tensor, RowNames& names, Dtypes&&... dtypes) {
  ArgumentMatcher vector(op, argument, tensor);
  if (role == Role::kOutput) static_cast<void>(vector.writable());
  vector.shape(names.cols).dtype(dtypes...).on(names.device).contiguous().verify();
}

/// The rows that a matched tensor gave the names. ValueError: more than `max_rows`.
std::int64_t matched_rows(std::string_view op, std::string_view argument, const TensorView& tensor,
                          const RowNames& names, std::int64_t max_rows);

/// An argument with its extent, which is compared first: that settles all sane calls at the price
/// of a few comparisons.
struct Memory {
  std::string_view name;
  const TensorView* tensor;
  TensorView::Extent extent;

  Memory(std::string_view argument, const TensorView& view)
      : name(argument), tensor(&view), extent(view.extent()) {}
};
/// ValueError: they share memory in a way that `allowed` forbids.
inline void check_apart(std::string_view op, const Memory& output, const Memory& input,
                        Overlap allowed = Overlap::kNone) {
  if (output.extent.end <= input.extent.begin || input.extent.end <= output.extent.begin) return;
  check_overlap(op, output.name, *output.tensor, input.name, *input.tensor, allowed);
}

/// How a tensor of rows is to lie in memory: exactly `align` divides its address and row stride,
/// or the size of an element where that is larger.
struct RowPlacement {
  std::int64_t rows = 0;
  bool strided = false;
  int align = kMaxAlign;
};

/// A new tensor [rows, cols] on the CPU, its memory added to `storage`. Gaps between rows hold NaN
/// in every float type, so that reading them shows.
TensorView place_rows(const RowPlacement& placement, std::int64_t cols, DType dtype,
                      std::vector<Tensor>& storage);
/// The same for a tensor [cols].
TensorView place_vector(const RowPlacement& placement, std::int64_t cols, DType dtype,
                        std::vector<Tensor>& storage);

/// Fills a tensor of rank 1 or 2 with mean + deviation * z, z nearly normal and within ±3.5. Large
/// tensors repeat a block of some million values, of odd length so that rows do not repeat soon.
void fill_normal(const TensorView& tensor, double mean, double deviation, Rng& rng);

/// What has to hold of a problem's alignment and layout, for parsing.
struct LayoutRules {
  std::string_view op;
  std::int64_t rows = 0;
  std::optional<bool> strided = {};          ///< nothing: the op has no strided rows
  int smallest_element = 8;                  ///< bytes
  std::vector<std::int64_t> row_bytes = {};  ///< of a gapless row of each kind of tensor
  /// Of a part of a row, such as a head, of which some row has several; 0: each row is one piece.
  std::int64_t part_bytes = 0;
  std::string_view part = {};

  void add_vector(DType dtype) { smallest_element = std::min(smallest_element, bits(dtype) / 8); }
  void add_rows(std::int64_t cols, DType dtype) {
    add_vector(dtype);
    row_bytes.push_back(cols * bits(dtype) / 8);
  }
};

/// The largest alignment the problem can have.
int natural_align(const LayoutRules& rules);
/// ValueError: not a power of two, below the element size, above natural_align; strided rows of
/// which there are fewer than two.
void check_layout(const LayoutRules& rules, int align);

/// A parsed problem's `align`, checked; where no key gave it, the largest. It follows from all else
/// in the problem, so it comes last.
int parsed_align(const LayoutRules& rules, const KeyValues& pairs, int align);

/// ValueError: eps, which is added to a mean of squares, is no positive normal f32.
void check_eps(std::string_view op, double eps);

/// TypeError: f64 goes with f64 only; no model mixes it, and no kernel would read it. `first` is
/// the argument of dtype `expected`.
void check_all_or_no_f64(std::string_view op, std::string_view first, DType expected,
                         std::string_view argument, std::optional<DType> dtype);

/// ValueError unless kDTypes has it.
void check_dtype(std::string_view op, std::string_view key, DType dtype);

/// Keys of describe_fields() with what it does not know: that dtypes are of `dtypes`, and what
/// align is when left out.
std::vector<Key> with_dtypes(std::vector<Key> keys, std::string_view dtypes);

/// Whether a key was among the pairs.
bool given(const KeyValues& pairs, std::string_view key);

}  // namespace einkorn::cpu
