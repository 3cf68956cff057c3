// silu_mul_bwd/cpu/rows_v1: one pass, everything in registers.
//
// Idea: dy, gate and up are widened to f32, exp by Highway's polynomial, one division, and both
// gradients are rounded once. Work is cut into blocks of columns, so that one long row uses all
// threads as well as many short ones. A position's inputs are read before its outputs are written,
// so any output may lie on any input.

// Highway includes this file once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/silu_mul_bwd/cpu/rows_v1.cc"
#include "src/cpu/hwy_targets.h"
// After the targets.
#include <hwy/foreach_target.h>
// After the list of targets; -inl.h before anything that opens namespaces.
#include <hwy/contrib/math/math-inl.h>

#include "src/cpu/codec-inl.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include <einkorn/match.h>
#include <einkorn/op.h>
#include <hwy/cache_control.h>

#include "ops/activation/silu_mul_bwd/contract.h"
#include "src/cpu/describe.h"
#include "src/cpu/threads.h"

#ifndef EINKORN_SILU_MUL_BWD_CPU_ROWS_V1_
#define EINKORN_SILU_MUL_BWD_CPU_ROWS_V1_
namespace einkorn::silu_mul_bwd::cpu {
// Unnamed: another version may have the same names, and be in the same program.
namespace {

/// What all elements of a call share.
struct Scalars {
  DType dtype = kF32;
  float limit = 0;
  float alpha = 1;
  float up_offset = 0;
  bool clamp = false;
  bool interleaved = false;
  bool round_silu = false;
  bool stream = false;
};

/// Some columns of one row. Interleaved, gate and dgate point to pairs, and up and dup are not
/// looked at.
struct Block {
  const void* dy;
  const void* gate;
  const void* up;
  void* dgate;
  void* dup;
  std::size_t count;
};

}  // namespace
}  // namespace einkorn::silu_mul_bwd::cpu
#endif  // EINKORN_SILU_MUL_BWD_CPU_ROWS_V1_

HWY_BEFORE_NAMESPACE();
namespace einkorn::silu_mul_bwd::cpu {
namespace {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
// NOLINTNEXTLINE(google-build-using-namespace): the codecs of this instruction set
using namespace einkorn::cpu::HWY_NAMESPACE;

/// exp(x) with infinity from where f32 ends; Highway's own is for the range below.
HWY_ATTR inline F32Vec exp_all(F32Vec x) {
  const F32Tag tag;
  const F32Vec largest = hn::Set(tag, 88.72283F);  // the last f32 whose exp is finite in f32
  const F32Vec infinity = hn::Set(tag, std::numeric_limits<float>::infinity());
  return hn::IfThenElse(hn::Gt(x, largest), infinity, hn::Exp(tag, hn::Min(x, largest)));
}

/// Before their last rounding.
struct Gradients {
  F32Vec gate;
  F32Vec up;
};

/// NaN in g comes through the products with it.
template <class Codec, bool kClamp>
HWY_ATTR inline Gradients gradients(F32Vec dy, F32Vec g, F32Vec u, const Scalars& scalars) {
  const F32Tag tag;
  const F32Vec zero = hn::Zero(tag);
  const F32Vec one = hn::Set(tag, 1.0F);
  const F32Vec limit = hn::Set(tag, scalars.limit);
  // Comparisons are false for NaN, which so passes through the clamps, and so does its gradient.
  const auto gate_clamped = hn::Gt(g, limit);
  const auto up_clamped = hn::Gt(hn::Abs(u), limit);
  F32Vec z = g;
  if constexpr (kClamp) {
    g = hn::IfThenElse(gate_clamped, limit, g);
    u = hn::IfThenElse(up_clamped, hn::CopySign(limit, u), u);
    u = hn::Add(u, hn::Set(tag, scalars.up_offset));
    z = hn::Mul(g, hn::Set(tag, scalars.alpha));
  }
  F32Vec t = exp_all(hn::Neg(z));
  if constexpr (kClamp) {
    // 0 * -inf: only alpha = 0 makes a NaN that is not in g itself.
    t = hn::IfThenElse(hn::IsNaN(z), z, t);
  }
  const F32Vec s = hn::Div(one, hn::Add(one, t));
  // 1 - s without cancellation where it is small, and without infinity times 0 where t is infinite.
  const F32Vec rest = hn::IfThenElse(hn::Gt(z, zero), hn::Mul(t, s), hn::Sub(one, s));
  // At most 1.1, so that the product with dy goes beyond f32 no earlier than dgate's factors do.
  const F32Vec derivative = hn::Mul(s, hn::MulAdd(z, rest, one));
  F32Vec silu = hn::Mul(g, s);
  if (scalars.round_silu) silu = Codec::round(silu);
  Gradients out{hn::Mul(hn::Mul(dy, derivative), u), hn::Mul(dy, silu)};
  if constexpr (kClamp) {
    out.gate = hn::IfThenElse(gate_clamped, zero, out.gate);
    out.up = hn::IfThenElse(up_clamped, zero, out.up);
  }
  return out;
}

/// A Block whose type and form are known.
template <class Codec, bool kInterleaved, bool kClamp>
struct Typed {
  using Raw = typename Codec::Raw;
  const Raw* dy;
  const Raw* gate;
  const Raw* up;
  Raw* dgate;
  Raw* dup;

  /// Lanes elements from `i` on.
  HWY_ATTR inline Gradients compute(std::size_t i, const Scalars& scalars) const {
    F32Vec g, u;
    if constexpr (kInterleaved) {
      Codec::load_pairs(gate + 2 * i, g, u);
    } else {
      g = Codec::load(gate + i);
      u = Codec::load(up + i);
    }
    return gradients<Codec, kClamp>(Codec::load(dy + i), g, u, scalars);
  }

  HWY_ATTR inline void store(const Gradients& out, std::size_t i) const {
    if constexpr (kInterleaved) {
      Codec::store_pairs(out.gate, out.up, dgate + 2 * i);
    } else {
      Codec::store(out.gate, dgate + i);
      Codec::store(out.up, dup + i);
    }
  }

  HWY_ATTR inline void stream(const Gradients& out, std::size_t i) const {
    if constexpr (kInterleaved) {
      store(out, i);
    } else {
      Codec::stream(out.gate, dgate + i);
      Codec::stream(out.up, dup + i);
    }
  }

  /// The last `rest` < Lanes elements, through copies of a whole vector.
  HWY_ATTR void tail(std::size_t i, std::size_t rest, const Scalars& scalars) const {
    constexpr std::size_t kLanes = hn::MaxLanes(F32Tag());
    constexpr std::size_t kPairs = kInterleaved ? 2 : 1;
    HWY_ALIGN Raw in_dy[kLanes] = {};
    HWY_ALIGN Raw in_gate[kPairs * kLanes] = {};
    HWY_ALIGN Raw in_up[kLanes] = {};
    HWY_ALIGN Raw out_gate[kPairs * kLanes];
    HWY_ALIGN Raw out_up[kLanes];
    std::memcpy(in_dy, dy + i, rest * sizeof(Raw));
    std::memcpy(in_gate, gate + kPairs * i, kPairs * rest * sizeof(Raw));
    if constexpr (!kInterleaved) std::memcpy(in_up, up + i, rest * sizeof(Raw));
    const Typed copy{in_dy, in_gate, in_up, out_gate, out_up};
    copy.store(copy.compute(0, scalars), 0);
    std::memcpy(dgate + kPairs * i, out_gate, kPairs * rest * sizeof(Raw));
    if constexpr (!kInterleaved) std::memcpy(dup + i, out_up, rest * sizeof(Raw));
  }
};

template <class Codec, bool kInterleaved, bool kClamp>
HWY_ATTR void run_typed(const Block& block, const Scalars& scalars) {
  using Raw = typename Codec::Raw;
  const Typed<Codec, kInterleaved, kClamp> typed{
      static_cast<const Raw*>(block.dy), static_cast<const Raw*>(block.gate),
      static_cast<const Raw*>(block.up), static_cast<Raw*>(block.dgate),
      static_cast<Raw*>(block.dup)};
  const std::size_t lanes = hn::Lanes(F32Tag());
  const std::uintptr_t addresses =
      reinterpret_cast<std::uintptr_t>(block.dgate) | reinterpret_cast<std::uintptr_t>(block.dup);
  std::size_t i = 0;
  if (scalars.stream && addresses % (lanes * sizeof(Raw)) == 0) {
    for (; i + lanes <= block.count; i += lanes) typed.stream(typed.compute(i, scalars), i);
    hwy::FlushStream();
  }
  for (; i + lanes <= block.count; i += lanes) typed.store(typed.compute(i, scalars), i);
  if (i < block.count) typed.tail(i, block.count - i, scalars);
}

HWY_ATTR void run_block(const Block& block, const Scalars& scalars) {
  visit_codec(scalars.dtype, [&](auto codec) HWY_ATTR {
    using Codec = decltype(codec);
    if (scalars.interleaved) {
      if (scalars.clamp) {
        run_typed<Codec, true, true>(block, scalars);
      } else {
        run_typed<Codec, true, false>(block, scalars);
      }
    } else if (scalars.clamp) {
      run_typed<Codec, false, true>(block, scalars);
    } else {
      run_typed<Codec, false, false>(block, scalars);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace einkorn::silu_mul_bwd::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace einkorn::silu_mul_bwd::cpu {
namespace {

HWY_EXPORT(run_block);

// Columns of a block: its inputs and outputs fit in the second level of cache, and a block takes
// some 10 us, what a thread costs to wake.
constexpr std::int64_t kBlockCols = 1 << 13;

/// One tensor of N columns, or one of the two inside a packed one.
struct Columns {
  char* data;
  std::int64_t row_stride;  ///< bytes
  std::int64_t col_stride;  ///< bytes

  char* at(std::int64_t row, std::int64_t col) const {
    return data + row * row_stride + col * col_stride;
  }
};

struct RowsV1 {
  // Each element by the same instructions, the last ones of a row in a copy of a whole vector.
  static constexpr bool kBatchInvariant = true;

  struct Tiling {
    bool stream = false;

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("stream", &Tiling::stream, "write the gradients past the caches")};
    }
  };

  static std::optional<Refusal> supports(const SiluMulBwd::Problem&, const DeviceInfo&) {
    return std::nullopt;
  }

  static std::optional<Refusal> validate(const SiluMulBwd::Problem& problem, const Tiling& tiling,
                                         const DeviceInfo&) {
    if (!tiling.stream || problem.packing != SiluMulBwd::Packing::kInterleaved) return std::nullopt;
    return Refusal{"stream with packing interleaved: pairs are written through the caches"};
  }

  /// Past the caches, unless the gradients fit there: a store through them reads its line first,
  /// two reads beside the five streams that are meant (11 to 14 % at 4096 x 4096 f32).
  static std::vector<Tiling> tilings(const SiluMulBwd::Problem& problem, const DeviceInfo& device) {
    if (validate(problem, {true}, device)) return {{false}};
    const double bytes = 2.0 * static_cast<double>(problem.rows) *
                         static_cast<double>(problem.cols) * bits(problem.dtype) / 8;
    const bool stream = bytes > einkorn::cpu::cached_bytes(device);
    return {{stream}, {!stream}};
  }

  struct State {
    SiluMulBwd::Problem problem;
    bool stream;
  };

  static Plan plan(const SiluMulBwd::Problem& problem, const Tiling& tiling, const DeviceInfo&) {
    Plan plan;
    if (problem.rows == 0) return plan;
    plan.stages.emplace_back(
        host_stage<SiluMulBwd::Args, State>("rows_v1", State{problem, tiling.stream}, &run));
    return plan;
  }

  static Columns columns(const TensorView& tensor, std::int64_t first, bool pairs,
                         std::int64_t rows) {
    const std::int64_t element = bits(tensor.dtype()) / 8;
    // With at most one row any stride would do, and is not looked at.
    const std::int64_t stride = rows > 1 ? collapsed_row_stride(tensor).value_or(0) : 0;
    return {tensor.data_as<char>() + first * element, stride * element, element * (pairs ? 2 : 1)};
  }

  /// In place the lines are in the cache already.
  static bool in_place(const SiluMulBwd::Args& args) {
    const void* inputs[] = {args.dy.data(), args.gate.data(), args.up.data(), args.packed.data()};
    const auto is_input = [&](const TensorView& output) {
      return output.defined() && std::ranges::find(inputs, output.data()) != std::end(inputs);
    };
    return is_input(args.dgate) || is_input(args.dup) || is_input(args.dpacked);
  }

  static Scalars scalars_of(const SiluMulBwd::Args& args, const State& state) {
    Scalars scalars;
    scalars.dtype = state.problem.dtype;
    scalars.limit = static_cast<float>(args.limit);
    scalars.alpha = static_cast<float>(args.alpha);
    scalars.up_offset = static_cast<float>(args.up_offset);
    scalars.clamp = state.problem.clamp;
    scalars.interleaved = state.problem.packing == SiluMulBwd::Packing::kInterleaved;
    scalars.round_silu = state.problem.rounding == SiluMulBwd::Rounding::kSilu;
    scalars.stream = state.stream && !in_place(args);
    return scalars;
  }

  static void run(const SiluMulBwd::Args& args, const State& state) {
    const std::int64_t rows = state.problem.rows;
    const std::int64_t cols = state.problem.cols;
    const bool split = state.problem.packing == SiluMulBwd::Packing::kSplit;
    const Scalars scalars = scalars_of(args, state);
    const bool pairs = scalars.interleaved;
    const std::int64_t second = split ? 0 : pairs ? 1 : cols;
    const Columns dy = columns(args.dy, 0, false, rows);
    const Columns gate = columns(split ? args.gate : args.packed, 0, pairs, rows);
    const Columns up = columns(split ? args.up : args.packed, second, pairs, rows);
    const Columns dgate = columns(split ? args.dgate : args.dpacked, 0, pairs, rows);
    const Columns dup = columns(split ? args.dup : args.dpacked, second, pairs, rows);

    const std::int64_t blocks = (cols + kBlockCols - 1) / kBlockCols;
    const std::int64_t grain = std::max<std::int64_t>(1, kBlockCols / cols);
    einkorn::cpu::parallel_for(0, rows * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t item = begin; item < end; ++item) {
        const std::int64_t row = item / blocks;
        const std::int64_t col = item % blocks * kBlockCols;
        const Block block{
            dy.at(row, col),  gate.at(row, col),
            up.at(row, col),  dgate.at(row, col),
            dup.at(row, col), static_cast<std::size_t>(std::min(kBlockCols, cols - col))};
        HWY_DYNAMIC_DISPATCH(run_block)(block, scalars);
      }
    });
  }
};

}  // namespace

extern const Variant rows_v1;
constexpr Variant rows_v1 = make_variant<SiluMulBwd, RowsV1>(
    "cpu", "rows", 1, "cpp", "blocks of columns in registers, all threads, any layout");

}  // namespace einkorn::silu_mul_bwd::cpu
#endif  // HWY_ONCE
