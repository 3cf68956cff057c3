// silu_mul/cpu/rows_v1: one pass, everything in registers.
//
// Idea: gate and up are widened to f32, exp by Highway's polynomial, one division, and the result
// is rounded once. Work is cut into blocks of columns, so that one long row uses all threads as
// well as many short ones. Writing past the caches is a tiling, and not the first.

// Highway includes this file once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/silu_mul/cpu/rows_v1.cc"
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

#include "ops/activation/silu_mul/contract.h"
#include "src/cpu/describe.h"
#include "src/cpu/threads.h"

#ifndef EINKORN_SILU_MUL_CPU_ROWS_V1_
#define EINKORN_SILU_MUL_CPU_ROWS_V1_
namespace einkorn::silu_mul::cpu {
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

}  // namespace
}  // namespace einkorn::silu_mul::cpu
#endif  // EINKORN_SILU_MUL_CPU_ROWS_V1_

HWY_BEFORE_NAMESPACE();
namespace einkorn::silu_mul::cpu {
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

/// g / (1 + exp(-alpha g)) * (u + up_offset). With g = -inf that is -inf / inf, NaN, as it is by
/// the formula; NaN in g or u comes through the products.
template <class Codec, bool kClamp>
HWY_ATTR inline F32Vec silu_mul(F32Vec g, F32Vec u, const Scalars& scalars) {
  const F32Tag tag;
  const F32Vec one = hn::Set(tag, 1.0F);
  F32Vec z = g;
  if constexpr (kClamp) {
    // Comparisons are false for NaN, which so passes through; Min would not promise that.
    const F32Vec limit = hn::Set(tag, scalars.limit);
    const F32Vec below = hn::Neg(limit);
    g = hn::IfThenElse(hn::Gt(g, limit), limit, g);
    u = hn::IfThenElse(hn::Gt(u, limit), limit, u);
    u = hn::IfThenElse(hn::Lt(u, below), below, u);
    u = hn::Add(u, hn::Set(tag, scalars.up_offset));
    z = hn::Mul(g, hn::Set(tag, scalars.alpha));
  }
  F32Vec exponential = exp_all(hn::Neg(z));
  if constexpr (kClamp) {
    // 0 * -inf: only alpha = 0 makes a NaN that is not in g itself.
    exponential = hn::IfThenElse(hn::IsNaN(z), z, exponential);
  }
  F32Vec silu = hn::Div(g, hn::Add(one, exponential));
  if (scalars.round_silu) silu = Codec::round(silu);
  return hn::Mul(silu, u);
}

/// Gate and up of Lanes elements from two places, or from every other element of one.
template <class Codec, bool kInterleaved>
HWY_ATTR inline void load_pair(const typename Codec::Raw* gate, const typename Codec::Raw* up,
                               std::size_t i, F32Vec& g, F32Vec& u) {
  if constexpr (kInterleaved) {
    Codec::load_pairs(gate + 2 * i, g, u);
  } else {
    g = Codec::load(gate + i);
    u = Codec::load(up + i);
  }
}

/// The last `rest` < Lanes elements.
template <class Codec, bool kInterleaved>
HWY_ATTR void load_pair_tail(const typename Codec::Raw* gate, const typename Codec::Raw* up,
                             std::size_t i, std::size_t rest, F32Vec& g, F32Vec& u) {
  if constexpr (kInterleaved) {
    HWY_ALIGN typename Codec::Raw pairs[2 * hn::MaxLanes(F32Tag())] = {};
    std::memcpy(pairs, gate + 2 * i, 2 * rest * sizeof(pairs[0]));
    load_pair<Codec, true>(pairs, nullptr, 0, g, u);
  } else {
    g = load_tail<Codec>(gate + i, rest);
    u = load_tail<Codec>(up + i, rest);
  }
}

template <class Codec, bool kInterleaved, bool kClamp>
HWY_ATTR void run_typed(const void* gate_data, const void* up_data, void* y_data, std::size_t count,
                        const Scalars& scalars) {
  using Raw = typename Codec::Raw;
  const auto* gate = static_cast<const Raw*>(gate_data);
  const auto* up = static_cast<const Raw*>(up_data);
  auto* y = static_cast<Raw*>(y_data);
  const std::size_t lanes = hn::Lanes(F32Tag());
  F32Vec g, u;
  std::size_t i = 0;
  if (scalars.stream && reinterpret_cast<std::uintptr_t>(y) % (lanes * sizeof(Raw)) == 0) {
    for (; i + lanes <= count; i += lanes) {
      load_pair<Codec, kInterleaved>(gate, up, i, g, u);
      Codec::stream(silu_mul<Codec, kClamp>(g, u, scalars), y + i);
    }
    hwy::FlushStream();
  }
  for (; i + lanes <= count; i += lanes) {
    load_pair<Codec, kInterleaved>(gate, up, i, g, u);
    Codec::store(silu_mul<Codec, kClamp>(g, u, scalars), y + i);
  }
  if (i < count) {
    load_pair_tail<Codec, kInterleaved>(gate, up, i, count - i, g, u);
    store_tail<Codec>(silu_mul<Codec, kClamp>(g, u, scalars), y + i, count - i);
  }
}

/// `count` elements of one row; interleaved, gate points to pairs and up is not looked at.
HWY_ATTR void run_block(const void* gate, const void* up, void* y, std::size_t count,
                        const Scalars& scalars) {
  visit_codec(scalars.dtype, [&](auto codec) HWY_ATTR {
    using Codec = decltype(codec);
    if (scalars.interleaved) {
      if (scalars.clamp) {
        run_typed<Codec, true, true>(gate, up, y, count, scalars);
      } else {
        run_typed<Codec, true, false>(gate, up, y, count, scalars);
      }
    } else if (scalars.clamp) {
      run_typed<Codec, false, true>(gate, up, y, count, scalars);
    } else {
      run_typed<Codec, false, false>(gate, up, y, count, scalars);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace einkorn::silu_mul::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace einkorn::silu_mul::cpu {
namespace {

HWY_EXPORT(run_block);

// Columns of a block: its inputs and outputs fit in the first level of cache, and a block takes
// some 10 us, what a thread costs to wake.
constexpr std::int64_t kBlockCols = 1 << 13;

struct RowsV1 {
  static constexpr bool kBatchInvariant = true;  // element by element

  struct Tiling {
    bool stream = false;

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("stream", &Tiling::stream, "write y past the caches")};
    }
  };

  static std::optional<Refusal> supports(const SiluMul::Problem&, const DeviceInfo&) {
    return std::nullopt;
  }

  /// Writing past the caches loses here: with two reads for each write the read for ownership that
  /// it saves is a fifth of the traffic, and less than what it costs (measured at 4096 x 4096).
  static std::vector<Tiling> tilings(const SiluMul::Problem&, const DeviceInfo&) {
    return {{false}, {true}};
  }

  struct State {
    SiluMul::Problem problem;
    bool stream;
  };

  static Plan plan(const SiluMul::Problem& problem, const Tiling& tiling, const DeviceInfo&) {
    Plan plan;
    if (problem.rows == 0) return plan;
    plan.stages.emplace_back(
        host_stage<SiluMul::Args, State>("rows_v1", State{problem, tiling.stream}, &run));
    return plan;
  }

  /// Elements between rows; with at most one row any stride would do, and is not looked at.
  static std::int64_t row_stride(const TensorView& tensor, std::int64_t rows) {
    return rows > 1 ? collapsed_row_stride(tensor).value_or(0) : 0;
  }

  static void run(const SiluMul::Args& args, const State& state) {
    const SiluMul::Problem& problem = state.problem;
    const bool split = problem.packing == SiluMul::Packing::kSplit;
    const bool interleaved = problem.packing == SiluMul::Packing::kInterleaved;
    const std::int64_t rows = problem.rows;
    const std::int64_t cols = problem.cols;
    const std::int64_t element = bits(problem.dtype) / 8;
    const TensorView& gate = split ? args.gate : args.packed;
    const TensorView& up = split ? args.up : args.packed;
    const char* up_data = up.data_as<char>() + (split ? 0 : cols * element);
    const std::int64_t gate_stride = row_stride(gate, rows) * element;
    const std::int64_t up_stride = row_stride(up, rows) * element;
    const std::int64_t y_stride = row_stride(args.y, rows) * element;

    Scalars scalars;
    scalars.dtype = problem.dtype;
    scalars.limit = static_cast<float>(args.limit);
    scalars.alpha = static_cast<float>(args.alpha);
    scalars.up_offset = static_cast<float>(args.up_offset);
    scalars.clamp = problem.clamp;
    scalars.interleaved = interleaved;
    scalars.round_silu = problem.rounding == SiluMul::Rounding::kSilu;
    // In place the lines are in the cache already.
    scalars.stream = state.stream && args.y.data() != gate.data() && args.y.data() != up.data();

    const std::int64_t blocks = (cols + kBlockCols - 1) / kBlockCols;
    const std::int64_t grain = std::max<std::int64_t>(1, kBlockCols / cols);
    einkorn::cpu::parallel_for(0, rows * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t item = begin; item < end; ++item) {
        const std::int64_t row = item / blocks;
        const std::int64_t col = item % blocks * kBlockCols;
        const auto count = static_cast<std::size_t>(std::min(kBlockCols, cols - col));
        HWY_DYNAMIC_DISPATCH(run_block)
        (gate.data_as<char>() + row * gate_stride + col * element * (interleaved ? 2 : 1),
         up_data + row * up_stride + col * element,
         args.y.data_as<char>() + row * y_stride + col * element, count, scalars);
      }
    });
  }
};

}  // namespace

extern const Variant rows_v1;
constexpr Variant rows_v1 = make_variant<SiluMul, RowsV1>(
    "cpu", "rows", 1, "cpp", "blocks of columns in registers, all threads, any layout");

}  // namespace einkorn::silu_mul::cpu
#endif  // HWY_ONCE
