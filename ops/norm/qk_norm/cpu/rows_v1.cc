// qk_norm/cpu/rows_v1: one pass over memory, a head at a time, heads of both tensors in one list.
//
// Idea: a head is a few vectors, at most 4 KiB, so that the first cache keeps it between its sum of
// squares and its result: it is widened twice and needs no buffer. What is the same for all heads,
// dtypes and roundings, is decided outside of the loop over them, which would otherwise be a good
// part of the time of a head. All heads of all tokens are one list of work, so that a single token
// of many heads is shared by threads, too. w + offset is prepared once a call. Outputs larger than
// this process's part of the last-level cache are written past it.
//
// Sums: 4 vectors of partial sums over at most 128 terms each, added as a tree; the sums of such
// blocks in double.

// Highway includes this file once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/norm/qk_norm/cpu/rows_v1.cc"
#include "src/cpu/hwy_targets.h"
// After the targets.
#include <hwy/foreach_target.h>
// After the list of targets; -inl.h before anything that opens namespaces.
#include "src/cpu/codec-inl.h"
#include "src/cpu/sums-inl.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include <einkorn/match.h>
#include <einkorn/op.h>
#include <hwy/cache_control.h>

#include "ops/norm/qk_norm/contract.h"
#include "src/core/float.h"
#include "src/cpu/column_factors.h"
#include "src/cpu/describe.h"
#include "src/cpu/threads.h"

#ifndef EINKORN_QK_NORM_CPU_ROWS_V1_
#define EINKORN_QK_NORM_CPU_ROWS_V1_
namespace einkorn::qk_norm::cpu {
// Unnamed: another version may have the same names, and be in the same program.
namespace {

/// q or k: where its tokens are, and its scales.
struct Side {
  const char* x = nullptr;
  char* y = nullptr;
  std::int64_t x_stride = 0;  ///< bytes between tokens
  std::int64_t y_stride = 0;
  const float* scale = nullptr;  ///< w + offset as the contract rounds it, or 1; [cols]
  bool stream = false;
};

/// One call, for all threads. Heads are numbered token by token, q's before k's.
struct HeadsTask {
  Side q, k;
  std::int64_t q_heads = 0;
  std::int64_t heads = 0;  ///< of a token
  std::size_t cols = 0;
  double eps = 0;
  DType dtype = kF32;
  RmsNorm::Rounding rounding = RmsNorm::Rounding::kLlama;
};

}  // namespace
}  // namespace einkorn::qk_norm::cpu
#endif  // EINKORN_QK_NORM_CPU_ROWS_V1_

HWY_BEFORE_NAMESPACE();
namespace einkorn::qk_norm::cpu {
namespace {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
// NOLINTNEXTLINE(google-build-using-namespace): the codecs of this instruction set
using namespace einkorn::cpu::HWY_NAMESPACE;

template <class Codec>
HWY_ATTR double sum_squares(const typename Codec::Raw* x, std::size_t cols) {
  double total = 0;
  const auto add = [](F32Vec& sum, F32Vec h) HWY_ATTR { sum = hn::MulAdd(h, h, sum); };
  sum_in_chains(
      cols, hn::Zero(F32Tag()),
      [&](F32Vec& sum, std::size_t at) HWY_ATTR { add(sum, Codec::load(x + at)); },
      [&](F32Vec& sum, std::size_t at, std::size_t count)
          HWY_ATTR { add(sum, load_tail<Codec>(x + at, count)); },
      [&](F32Vec sum) HWY_ATTR { total += total_of(sum); });
  return total;
}

/// Results of some elements: h * r * scale with the contract's roundings.
template <class Codec, bool kRounded>
HWY_ATTR F32Vec normalised(F32Vec h, F32Vec r, F32Vec scale) {
  F32Vec value = hn::Mul(h, r);
  if constexpr (kRounded) value = Codec::round(value);
  return hn::Mul(value, scale);
}

/// `y` may be `x`.
template <class Codec, bool kRounded>
HWY_ATTR void write_head(const typename Codec::Raw* x, float r, const float* scale,
                         std::size_t cols, bool stream, typename Codec::Raw* y) {
  const F32Vec factor = hn::Set(F32Tag(), r);
  const std::size_t lanes = hn::Lanes(F32Tag());
  const auto at = [&](std::size_t i) HWY_ATTR {
    return normalised<Codec, kRounded>(Codec::load(x + i), factor, F32Codec::load(scale + i));
  };
  std::size_t i = 0;
  if (stream && reinterpret_cast<std::uintptr_t>(y) % (lanes * sizeof(*y)) == 0) {
    for (; i + lanes <= cols; i += lanes) Codec::stream(at(i), y + i);
  }
  for (; i + lanes <= cols; i += lanes) Codec::store(at(i), y + i);
  if (i < cols) {
    const std::size_t rest = cols - i;
    const F32Vec value = normalised<Codec, kRounded>(load_tail<Codec>(x + i, rest), factor,
                                                     load_tail<F32Codec>(scale + i, rest));
    store_tail<Codec>(value, y + i, rest);
  }
}

template <class Codec, bool kRounded>
HWY_ATTR void run_heads_as(const HeadsTask& task, std::int64_t begin, std::int64_t end) {
  using Raw = typename Codec::Raw;
  const std::int64_t head_bytes = static_cast<std::int64_t>(task.cols * sizeof(Raw));
  std::int64_t token = begin / task.heads;
  std::int64_t head = begin % task.heads;
  for (std::int64_t i = begin; i < end; ++i) {
    const bool is_q = head < task.q_heads;
    const Side& side = is_q ? task.q : task.k;
    const std::int64_t offset = (is_q ? head : head - task.q_heads) * head_bytes;
    const auto* x = reinterpret_cast<const Raw*>(side.x + token * side.x_stride + offset);
    auto* y = reinterpret_cast<Raw*>(side.y + token * side.y_stride + offset);
    const double mean = sum_squares<Codec>(x, task.cols) / static_cast<double>(task.cols);
    auto r = static_cast<float>(1 / std::sqrt(mean + task.eps));
    if (task.rounding == RmsNorm::Rounding::kNone) {
      r = hn::GetLane(Codec::round(hn::Set(F32Tag(), r)));
    }
    write_head<Codec, kRounded>(x, r, side.scale, task.cols, side.stream, y);
    if (++head == task.heads) {
      head = 0;
      ++token;
    }
  }
}

/// Heads [begin, end) of the list.
HWY_ATTR void run_heads(const HeadsTask& task, std::int64_t begin, std::int64_t end) {
  visit_codec(task.dtype, [&](auto codec) HWY_ATTR {
    using Codec = decltype(codec);
    if (task.rounding == RmsNorm::Rounding::kGemma) {
      run_heads_as<Codec, false>(task, begin, end);
    } else {
      run_heads_as<Codec, true>(task, begin, end);
    }
  });
  if (task.q.stream || task.k.stream) hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace einkorn::qk_norm::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace einkorn::qk_norm::cpu {
namespace {

HWY_EXPORT(run_heads);

using Problem = QkNorm::Problem;
using Scales = std::array<float, QkNorm::kMaxCols>;

/// Where w + offset of `weight` is: in the weight itself or, prepared, in `memory`.
const float* scale_of(const TensorView& weight, const Problem& problem, Scales& memory) {
  const einkorn::cpu::ColumnFactors factors{
      weight, problem.offset, problem.rounding == RmsNorm::Rounding::kNone ? problem.dtype : kF32};
  if (factors.are_the_weight()) return weight.data_as<float>();
  factors.write(problem.cols, memory.data());
  return memory.data();
}

Side side_of(const TensorView& x, const TensorView& y, const float* scale, std::int64_t rows,
             bool stream) {
  const int element = bits(x.dtype()) / 8;
  return {.x = x.data_as<const char>(),
          .y = y.data_as<char>(),
          .x_stride = tokens_of(x, rows).stride(0) * element,
          .y_stride = tokens_of(y, rows).stride(0) * element,
          .scale = scale,
          // In place the lines are in the cache already.
          .stream = stream && x.data() != y.data()};
}

struct RowsV1 {
  static constexpr bool kBatchInvariant =
      true;  // a head is summed alone, in an order that follows from cols

  struct Tiling {
    bool stream = false;

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("stream", &Tiling::stream, "write the outputs past the caches")};
    }
  };

  static std::optional<Refusal> supports(const Problem&, const DeviceInfo&) { return std::nullopt; }

  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo& device) {
    const bool stream = QkNorm::work(problem).min_bytes / 2 > einkorn::cpu::cached_bytes(device);
    return {{stream}, {!stream}};
  }

  struct State {
    Problem problem;
    bool stream;
  };

  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo&) {
    Plan plan;
    if (problem.rows == 0) return plan;
    plan.stages.emplace_back(
        host_stage<QkNorm::Args, State>("rows_v1", State{problem, tiling.stream}, &run));
    return plan;
  }

  static void run(const QkNorm::Args& args, const State& state) {
    const Problem& problem = state.problem;
    Scales q_memory;
    Scales k_memory;
    const float* q_scale = scale_of(args.q_weight, problem, q_memory);
    const float* k_scale = scale_of(args.k_weight, problem, k_memory);
    HeadsTask task;
    task.q = side_of(args.q, args.q_out, q_scale, problem.rows, state.stream);
    task.k = side_of(args.k, args.k_out, k_scale, problem.rows, state.stream);
    task.q_heads = problem.q_heads;
    task.heads = problem.q_heads + problem.k_heads;
    task.cols = static_cast<std::size_t>(problem.cols);
    task.eps = args.eps;
    task.dtype = problem.dtype;
    task.rounding = problem.rounding;
    constexpr std::int64_t kGrain = 1 << 15;  // elements: some 10 us, what a thread costs to wake
    einkorn::cpu::parallel_for(0, problem.rows * task.heads, 1 + kGrain / problem.cols,
                               [&](std::int64_t begin, std::int64_t end) {
                                 HWY_DYNAMIC_DISPATCH(run_heads)(task, begin, end);
                               });
  }
};

}  // namespace

extern const Variant rows_v1;
constexpr Variant rows_v1 = make_variant<QkNorm, RowsV1>(
    "cpu", "rows", 1, "cpp", "a head at a time through the first cache, all threads, any layout");

}  // namespace einkorn::qk_norm::cpu
#endif  // HWY_ONCE
