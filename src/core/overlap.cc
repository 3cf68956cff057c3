#include <algorithm>
#include <array>
#include <cstdlib>

#include <einkorn/match.h>
#include <fmt/format.h>

#include "src/core/match_run.h"

namespace einkorn {
namespace {

/// One dimension of a set of bits: `count` copies, `stride` bits apart.
struct Level {
  std::int64_t stride;
  std::int64_t count;
};

/// The memory of a tensor without order: its levels by falling stride, all positive, no counts of
/// 1, neighbours merged that one stride can walk, the last one the bits of a gapless run. Offsets
/// fit in 64 bits because a view reaches fewer than 2^55 elements of at most 64 bits.
struct Footprint {
  // A tensor's dimensions and its run; comparing splits levels at the other tensor's strides.
  std::array<Level, 2 * (kMaxRank + 1)> levels;
  int depth = 0;
  /// False when a level's copies interleave or overlap: then its gaps cannot be reasoned about.
  bool nested = true;
  bool broadcast = false;

  const Level& at(int level) const { return levels[static_cast<std::size_t>(level)]; }
  void push(Level level) { levels[static_cast<std::size_t>(depth++)] = level; }
};

Footprint footprint(const TensorView& tensor) {
  const std::int64_t width = bits(tensor.dtype());
  Footprint result;
  result.push({1, width});
  for (std::size_t dim = 0; dim < tensor.shape().size(); ++dim) {
    if (tensor.shape()[dim] == 1) continue;
    const Level level{std::abs(tensor.strides()[dim]) * width, tensor.shape()[dim]};
    if (level.stride == 0) {
      result.broadcast = true;
      continue;
    }
    result.push(level);
  }
  const auto end = result.levels.begin() + result.depth;
  std::sort(result.levels.begin(), end, [](Level a, Level b) { return a.stride < b.stride; });

  int kept = 0;
  std::int64_t reach = 1;  // of all levels so far
  for (int i = 0; i < result.depth; ++i) {
    const Level level = result.at(i);
    if (level.stride < reach) result.nested = false;
    reach += (level.count - 1) * level.stride;
    if (kept > 0 && result.at(kept - 1).stride * result.at(kept - 1).count == level.stride) {
      result.levels[static_cast<std::size_t>(kept - 1)].count *= level.count;
    } else {
      result.levels[static_cast<std::size_t>(kept++)] = level;
    }
  }
  result.depth = kept;
  std::reverse(result.levels.begin(), result.levels.begin() + kept);
  return result;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// Do ranges [a, a + a_count) and [b, b + b_count) meet?
bool meet(std::int64_t a, std::int64_t a_count, std::int64_t b, std::int64_t b_count) {
  return a < b + b_count && b < a + a_count;
}

/// Whether two nested footprints share a bit.
class Comparison {
 public:
  /// Levels [ia, ...) of `a` at bit 0 and [ib, ...) of `b` at bit `delta`. With copies of `a` at
  /// i*S and of `b` at delta + j*S, delta = q*S + d and 0 <= d < S, where what lies within a copy
  /// fits in S: copy j can touch only copies i = q+j (d before it) and i = q+j+1 (S-d after it).
  bool shares(const Footprint& a, int ia, const Footprint& b, int ib, std::int64_t delta) {
    if (!meet(0, reach(a, ia), delta, reach(b, ib))) return false;
    if (ia == a.depth && ib == b.depth) return true;
    if (--budget_ < 0) return true;
    const std::int64_t stride = std::max(ia < a.depth ? a.at(ia).stride : 0,  //
                                         ib < b.depth ? b.at(ib).stride : 0);
    const bool a_here = ia < a.depth && a.at(ia).stride == stride;
    const bool b_here = ib < b.depth && b.at(ib).stride == stride;
    if (!a_here && reach(a, ia) > stride) return shares_split(a, ia, stride, b, ib, delta);
    if (!b_here && reach(b, ib) > stride) return shares_split(b, ib, stride, a, ia, -delta);

    const std::int64_t a_count = a_here ? a.at(ia).count : 1;
    const std::int64_t b_count = b_here ? b.at(ib).count : 1;
    const int next_a = ia + (a_here ? 1 : 0);
    const int next_b = ib + (b_here ? 1 : 0);
    const std::int64_t q = floor_div(delta, stride);
    const std::int64_t d = delta - q * stride;
    return (meet(0, a_count, q, b_count) && shares(a, next_a, b, next_b, d)) ||
           (meet(0, a_count, q + 1, b_count) && shares(a, next_a, b, next_b, d - stride));
  }

 private:
  /// Bits from the first to past the last of levels [first, depth).
  static std::int64_t reach(const Footprint& memory, int first) {
    std::int64_t total = 1;
    for (int i = first; i < memory.depth; ++i) {
      total += (memory.at(i).count - 1) * memory.at(i).stride;
    }
    return total;
  }

  /// shares(), after the first level of `a` has been split into blocks of `stride`, the last one
  /// perhaps incomplete. True where its own stride is not a divisor.
  bool shares_split(const Footprint& a, int ia, std::int64_t stride, const Footprint& b, int ib,
                    std::int64_t delta) {
    const Level level = a.at(ia);
    if (stride % level.stride != 0) return true;
    const std::int64_t in_block = stride / level.stride;
    const std::int64_t blocks = level.count / in_block;
    const std::int64_t remaining = level.count % in_block;

    Footprint part;
    part.push({stride, blocks});
    part.push({level.stride, in_block});
    for (int i = ia + 1; i < a.depth; ++i) part.push(a.at(i));
    if (shares(part, 0, b, ib, delta)) return true;
    if (remaining == 0) return false;
    part.levels[1].count = remaining;
    return shares(part, 1, b, ib, delta - blocks * stride);
  }

  // Steps: views of one buffer need a few dozen. Beyond, the answer is "yes", the safe one.
  int budget_ = 10000;
};

bool same_elements(const TensorView& a, const TensorView& b) {
  if (a.data() != b.data() || bits(a.dtype()) != bits(b.dtype()) || a.rank() != b.rank()) {
    return false;
  }
  for (std::size_t dim = 0; dim < a.shape().size(); ++dim) {
    if (a.shape()[dim] != b.shape()[dim]) return false;
    if (a.shape()[dim] != 1 && a.strides()[dim] != b.strides()[dim]) return false;
  }
  return true;
}

/// Where the lowest element starts, in bits from the first one: negative with negative strides.
std::int64_t lowest_bit(const TensorView& tensor) {
  std::int64_t lowest = 0;
  for (std::size_t dim = 0; dim < tensor.shape().size(); ++dim) {
    lowest += std::min<std::int64_t>((tensor.shape()[dim] - 1) * tensor.strides()[dim], 0);
  }
  return lowest * bits(tensor.dtype());
}

bool overlap(const TensorView& a, const TensorView& b) {
  const auto a_extent = a.extent();
  const auto b_extent = b.extent();
  if (a_extent.end <= b_extent.begin || b_extent.end <= a_extent.begin) return false;
  const Footprint a_memory = footprint(a);
  const Footprint b_memory = footprint(b);
  if (!a_memory.nested || !b_memory.nested) return true;
  // From lowest bit to lowest bit; extents are rounded to bytes, which 4-bit elements need not be.
  const auto bytes = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(b.data()) -
                                               reinterpret_cast<std::uintptr_t>(a.data()));
  const std::int64_t delta = bytes * 8 + lowest_bit(b) - lowest_bit(a);
  return Comparison().shares(a_memory, 0, b_memory, 0, delta);
}

[[noreturn]] void fail(std::string_view op, std::string_view output_name, const TensorView& output,
                       std::string_view input_name, const TensorView& input, Overlap allowed,
                       const std::source_location& where) {
  const auto offset = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(output.data()) -
                                                reinterpret_cast<std::uintptr_t>(input.data()));
  std::string got;
  if (same_elements(output, input)) {
    got = fmt::format("exactly the memory of {}", input_name);
  } else if (offset == 0) {
    got = fmt::format("one that starts where {} does, but is not the same elements", input_name);
  } else {
    got = fmt::format("one that starts {} bytes {} {}", std::abs(offset),
                      offset > 0 ? "after" : "before", input_name);
  }
  const bool in_place = allowed == Overlap::kExactOrNone;
  throw_error(ErrorKind::kValue,
              fmt::format("{0}: {1} memory: expected {2}, got {3}\n"
                          "  {1}: {4}\n  {5}: {6}\n"
                          "  hint: write to a tensor of its own{7}",
                          op, output_name,
                          in_place ? fmt::format("memory apart from {0}, or {0} itself", input_name)
                                   : fmt::format("memory apart from {}", input_name),
                          got, to_string(output), input_name, to_string(input),
                          in_place ? ", or exactly in place" : ""),
              where);
}

}  // namespace

void check_overlap(std::string_view op, std::string_view output_name, const TensorView& output,
                   std::string_view input_name, const TensorView& input, Overlap allowed,
                   std::source_location where) {
  if (!output.defined() || !input.defined() || output.device() != input.device()) return;
  if (output.numel() == 0 || input.numel() == 0) return;
  if (allowed == Overlap::kExactOrNone && same_elements(output, input)) return;
  if (overlap(output, input)) {
    fail(op, output_name, output, input_name, input, allowed, where);
  }
}

bool elements_are_distinct(const TensorView& tensor) {
  if (tensor.numel() <= 1) return true;
  const Footprint memory = footprint(tensor);
  return memory.nested && !memory.broadcast;
}

std::optional<std::int64_t> collapsed_row_stride(const TensorView& tensor, int trailing_dims) {
  EK_ICHECK(trailing_dims >= 0 && trailing_dims <= tensor.rank(),
            "trailing dimensions are some of the tensor's");
  const auto rows = static_cast<std::size_t>(tensor.rank() - trailing_dims);
  const auto shape = tensor.shape();
  std::int64_t natural = 1;
  for (std::size_t dim = rows; dim < shape.size(); ++dim) natural *= shape[dim];

  std::optional<std::int64_t> stride;
  std::int64_t covered = 1;  // rows that `stride` walks so far, innermost first
  bool collapses = true;
  for (std::size_t dim = rows; dim-- > 0;) {
    if (shape[dim] == 0) return natural;
    if (shape[dim] == 1) continue;
    if (!stride) {
      stride = tensor.strides()[dim];
    } else {
      std::int64_t expected = 0;  // overflows only where broadcast rows are many
      collapses = collapses && !__builtin_mul_overflow(*stride, covered, &expected) &&
                  tensor.strides()[dim] == expected;
    }
    covered *= shape[dim];
  }
  if (!collapses) return std::nullopt;
  return stride.value_or(natural);
}

}  // namespace einkorn
