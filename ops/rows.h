#pragma once

// What contracts of row-wise ops share: the facts of a call's memory layout that make a problem,
// and tensors laid out to a problem's facts.

#include <cstddef>
#include <cstdint>
#include <string_view>
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

  /// Some tensor's rows do not follow each other without gaps.
  bool strided() const { return strided_; }
  /// The largest power of two up to kMaxAlign that divides all addresses and row strides, bytes.
  int align() const { return static_cast<int>(bits_ & (~bits_ + 1)); }

 private:
  std::int64_t rows_;
  std::uint64_t bits_ = kMaxAlign;  // or of all addresses and strides: its lowest bit is theirs
  bool strided_ = false;
};

/// Why f64, which is for numerical derivatives, is the reference's alone.
inline std::optional<Refusal> f64_refusal(DType dtype) {
  if (dtype != kF64) return std::nullopt;
  return Refusal{"dtype f64: only the reference has it"};
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

/// What has to hold of a problem's alignment and layout, for parsing. `row_bytes` holds the bytes
/// of a gapless row of each kind of tensor.
struct LayoutRules {
  std::string_view op;
  std::int64_t rows = 0;
  bool strided = false;
  int smallest_element = 1;  ///< bytes
  std::vector<std::int64_t> row_bytes;
};

/// The largest alignment the problem can have.
int natural_align(const LayoutRules& rules);
/// ValueError: not a power of two, below the element size, above natural_align; strided rows of
/// which there are fewer than two.
void check_layout(const LayoutRules& rules, int align);

/// Whether a key was among the pairs.
bool given(const KeyValues& pairs, std::string_view key);

}  // namespace einkorn::cpu
