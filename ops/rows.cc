#include "ops/rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/float.h"
#include "src/cpu/elements.h"

namespace einkorn::cpu {
namespace {

// Odd, and no multiple of a small prime: rows of usual sizes then start all over the block.
constexpr std::int64_t kBlockValues = (std::int64_t{1} << 22) - 3;
// Bytes of memory's alignment by Tensor::empty.
constexpr std::int64_t kBaseAlign = 256;

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Sum of four uniform 16-bit numbers: close to normal, from one draw of 64 bits.
double nearly_normal(Rng& rng) {
  const std::uint64_t draw = rng.next();
  const auto sum = (draw & 0xffff) + (draw >> 16 & 0xffff) + (draw >> 32 & 0xffff) + (draw >> 48);
  constexpr double kMean = 2.0 * 65535;
  constexpr double kDeviation = 37836.7;  // sqrt(4 / 12) * 65536
  return (static_cast<double>(sum) - kMean) / kDeviation;
}

TensorView place(std::int64_t bytes, std::int64_t align, std::vector<Tensor>& storage,
                 bool poison) {
  // An offset of exactly `align` from memory aligned far beyond it: no larger power divides it.
  const std::int64_t offset = align < kMaxAlign ? align : 0;
  storage.push_back(Tensor::empty({bytes + offset}, kU8, kCpuDevice));
  // All ones is NaN in f64, f32, f16 and bf16.
  if (poison) storage.back().fill_bytes(0xff);
  static_assert(kBaseAlign >= 2 * kMaxAlign);
  return {storage.back().view().data_as<char>() + offset, kU8, {bytes}, kCpuDevice};
}

}  // namespace

std::int64_t matched_rows(std::string_view op, std::string_view argument, const TensorView& tensor,
                          const RowNames& names, std::int64_t max_rows) {
  const std::int64_t rows = names.lead.rows();
  EK_CHECK(rows <= max_rows, ErrorKind::kValue,
           fmt::format("{0}: {1} rows: expected at most {2}, got {3}\n  {1}: {4}", op, argument,
                       max_rows, rows, to_string(tensor)));
  return rows;
}

TensorView place_rows(const RowPlacement& placement, std::int64_t cols, DType dtype,
                      std::vector<Tensor>& storage) {
  const std::int64_t element = bits(dtype) / 8;
  const std::int64_t align = std::max<std::int64_t>(placement.align, element);
  std::int64_t stride = cols * element;
  // A gap of an odd multiple: the stride then need not have a larger alignment than asked for.
  if (placement.strided) stride = round_up(stride, align) + 3 * align;
  const TensorView memory = place(placement.rows * stride, align, storage, placement.strided);
  const std::int64_t shape[] = {placement.rows, cols};
  const std::int64_t strides[] = {stride / element, 1};
  return {memory.data(), dtype, shape, strides, kCpuDevice};
}

TensorView place_vector(const RowPlacement& placement, std::int64_t cols, DType dtype,
                        std::vector<Tensor>& storage) {
  const std::int64_t element = bits(dtype) / 8;
  const std::int64_t align = std::max<std::int64_t>(placement.align, element);
  const TensorView memory = place(cols * element, align, storage, false);
  return {memory.data(), dtype, {cols}, kCpuDevice};
}

void fill_normal(const TensorView& tensor, double mean, double deviation, Rng& rng) {
  if (tensor.numel() == 0) return;
  const std::int64_t cols = tensor.size(-1);
  const std::int64_t rows = tensor.numel() / cols;
  const std::int64_t row_stride = tensor.rank() > 1 ? tensor.stride(0) : cols;
  const std::int64_t element = bits(tensor.dtype()) / 8;
  const std::int64_t count = std::min(kBlockValues, tensor.numel());
  std::vector<char> block(static_cast<std::size_t>(count * element));
  visit_float(tensor.dtype(), [&](auto element_type) {
    using Element = decltype(element_type);
    for (std::int64_t i = 0; i < count; ++i) {
      Element::store(block.data(), i, mean + deviation * nearly_normal(rng));
    }
  });
  std::int64_t next = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    char* out = tensor.data_as<char>() + row * row_stride * element;
    for (std::int64_t col = 0; col < cols;) {
      const std::int64_t run = std::min(cols - col, count - next);
      std::memcpy(out + col * element, block.data() + next * element,
                  static_cast<std::size_t>(run * element));
      col += run;
      next = next + run == count ? 0 : next + run;
    }
  }
}

int natural_align(const LayoutRules& rules) {
  std::uint64_t bits = static_cast<std::uint64_t>(kMaxAlign | rules.part_bytes);
  if (!rules.strided.value_or(false) && rules.rows > 1) {
    for (std::int64_t bytes : rules.row_bytes) bits |= static_cast<std::uint64_t>(bytes);
  }
  return 1 << std::countr_zero(bits);
}

void check_layout(const LayoutRules& rules, int align) {
  for (const std::int64_t bytes : rules.row_bytes) {
    // Below what TensorView can reach, gaps between rows included.
    EK_CHECK(static_cast<double>(rules.rows) * static_cast<double>(bytes) < 0x1p56,
             ErrorKind::kValue,
             fmt::format("{}: rows: expected tensors of fewer than 2^56 bytes, got {} rows of {}",
                         rules.op, rules.rows, bytes));
  }
  EK_CHECK(!rules.strided.value_or(false) || rules.rows > 1, ErrorKind::kValue,
           fmt::format("{}: layout: expected contiguous with fewer than two rows, got row_strided\n"
                       "  hint: the stride between rows means nothing here; leave layout out",
                       rules.op));
  EK_CHECK(align > 0 && std::has_single_bit(static_cast<unsigned>(align)), ErrorKind::kValue,
           fmt::format("{}: align: expected a power of two from {} to {}, got {}", rules.op,
                       rules.smallest_element, kMaxAlign, align));
  EK_CHECK(align >= rules.smallest_element, ErrorKind::kValue,
           fmt::format("{}: align: expected at least an element's size, {} bytes, got {}", rules.op,
                       rules.smallest_element, align));
  const int natural = natural_align(rules);
  // A row is a number of parts, so where there are parts they are the bound.
  const bool parts = rules.part_bytes != 0;
  EK_CHECK(align <= natural, ErrorKind::kValue,
           fmt::format("{}: align: expected at most {}, which divides the bytes of a {}, got {}{}",
                       rules.op, natural, parts ? rules.part : "row", align,
                       !parts && rules.strided
                           ? "\n  hint: layout=row_strided pads rows to any alignment"
                           : ""));
}

int parsed_align(const LayoutRules& rules, const KeyValues& pairs, int align) {
  if (!given(pairs, "align")) align = natural_align(rules);
  check_layout(rules, align);
  return align;
}

void check_all_or_no_f64(std::string_view op, std::string_view first, DType expected,
                         std::string_view argument, std::optional<DType> dtype) {
  EK_CHECK(!dtype || (*dtype == kF64) == (expected == kF64), ErrorKind::kType,
           fmt::format("{}: {} dtype: expected f64 for all tensors or for none, got {} with {} in "
                       "{}",
                       op, argument, name(*dtype), first, name(expected)));
}

void check_dtype(std::string_view op, std::string_view key, DType dtype) {
  EK_CHECK(kDTypes.has(dtype), ErrorKind::kValue,
           fmt::format("{}: {}: expected f32, f16, bf16 or f64, got {}", op, key, name(dtype)));
}

void check_eps(std::string_view op, double eps) {
  // The smallest normal f32: variants add eps in f32, and with 0 a row of zeros would give NaN.
  constexpr double kMinEps = 0x1p-126;
  constexpr double kMaxEps = std::numeric_limits<float>::max();
  // Written so that NaN fails, too.
  EK_CHECK(eps >= kMinEps && eps <= kMaxEps, ErrorKind::kValue,
           fmt::format("{}: eps value: expected a positive finite f32 number, got {}\n"
                       "  hint: models use 1e-6 or 1e-5",
                       op, eps));
}

std::vector<Key> with_dtypes(std::vector<Key> keys, std::string_view dtypes) {
  for (Key& key : keys) {
    // One that may be left out has "none" already.
    if (key.type == "dtype") key.allowed.append(key.allowed.empty() ? "" : "|").append(dtypes);
    if (key.name == "align") key.doc += " (default: the largest that cols allows)";
  }
  return keys;
}

bool given(const KeyValues& pairs, std::string_view key) {
  return std::ranges::any_of(pairs, [key](const auto& pair) { return pair.first == key; });
}

}  // namespace einkorn::cpu
