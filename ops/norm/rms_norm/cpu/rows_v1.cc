// rms_norm/cpu/rows_v1: one pass over memory, a row at a time.
//
// Idea: a row is widened to f32 in a buffer that stays in the first two levels of cache, its
// squares summed on the way, and then normalised out of that buffer, so that memory sees each input
// read and each output written once. w + offset is prepared once a call. Conversions to f16 and
// bf16 are vector code of our own, exact. Outputs larger than this process's part of the
// last-level cache are written past it: that saves reading lines that are about to be overwritten.
//
// Sums: 4 vectors of partial sums over at most 128 terms each, added as a tree; the sums of such
// blocks in double.

// Highway includes this file once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/norm/rms_norm/cpu/rows_v1.cc"
#include "src/cpu/hwy_targets.h"
// After the targets.
#include <hwy/foreach_target.h>
// After the list of targets; -inl.h before anything that opens namespaces.
#include "src/cpu/codec-inl.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include <einkorn/match.h>
#include <einkorn/op.h>
#include <hwy/cache_control.h>

#include "ops/norm/rms_norm/contract.h"
#include "src/core/float.h"
#include "src/cpu/describe.h"
#include "src/cpu/threads.h"

#ifndef EINKORN_RMS_NORM_CPU_ROWS_V1_
#define EINKORN_RMS_NORM_CPU_ROWS_V1_
namespace einkorn::rms_norm::cpu {
// Unnamed: another version may have the same names, and be in the same program.
namespace {

/// A tensor's rows; no data for one left out.
struct RowSpan {
  char* data = nullptr;
  std::int64_t stride = 0;  ///< bytes
  DType dtype = kF32;

  void* row(std::int64_t index) const { return data + index * stride; }
};

/// One call, for all threads.
struct RowsTask {
  RowSpan x, residual, y, residual_out;
  float* rstd = nullptr;
  const float* scale = nullptr;  ///< w + offset as the contract rounds it, or 1; [cols]
  std::size_t cols = 0;
  double eps = 0;
  RmsNorm::Rounding rounding = RmsNorm::Rounding::kLlama;
  bool stream = false;
};

}  // namespace
}  // namespace einkorn::rms_norm::cpu
#endif  // EINKORN_RMS_NORM_CPU_ROWS_V1_

HWY_BEFORE_NAMESPACE();
namespace einkorn::rms_norm::cpu {
namespace {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
// NOLINTNEXTLINE(google-build-using-namespace): the codecs of this instruction set
using namespace einkorn::cpu::HWY_NAMESPACE;

/// Elements of the source for load(), widened.
template <class Codec>
HWY_ATTR void widen_row(const void* source, std::size_t cols, float* out) {
  const auto* data = static_cast<const typename Codec::Raw*>(source);
  const std::size_t lanes = hn::Lanes(F32Tag());
  std::size_t i = 0;
  for (; i + lanes <= cols; i += lanes) F32Codec::store(Codec::load(data + i), out + i);
  if (i < cols) F32Codec::store(load_tail<Codec>(data + i, cols - i), out + i);
}

template <class Codec>
HWY_ATTR void add_row(const void* source, std::size_t cols, float* out) {
  const auto* data = static_cast<const typename Codec::Raw*>(source);
  const std::size_t lanes = hn::Lanes(F32Tag());
  std::size_t i = 0;
  for (; i + lanes <= cols; i += lanes) {
    F32Codec::store(hn::Add(F32Codec::load(out + i), Codec::load(data + i)), out + i);
  }
  if (i < cols) {
    const F32Vec tail = load_tail<Codec>(data + i, cols - i);
    F32Codec::store(hn::Add(F32Codec::load(out + i), tail), out + i);
  }
}

template <class Codec>
HWY_ATTR void narrow_row(const float* source, std::size_t cols, void* out) {
  auto* data = static_cast<typename Codec::Raw*>(out);
  const std::size_t lanes = hn::Lanes(F32Tag());
  std::size_t i = 0;
  for (; i + lanes <= cols; i += lanes) Codec::store(F32Codec::load(source + i), data + i);
  if (i < cols) store_tail<Codec>(F32Codec::load(source + i), data + i, cols - i);
}

/// Sum of squares of a source; the widened values go to `out` on the way where kKeep.
template <class Codec, bool kKeep>
HWY_ATTR double sum_squares(const void* source, std::size_t cols, float* out) {
  const auto* data = static_cast<const typename Codec::Raw*>(source);
  const F32Tag tag;
  const std::size_t lanes = hn::Lanes(tag);
  constexpr std::size_t kTerms = 128;  // of a chain, at most
  const auto next = [&](std::size_t at) HWY_ATTR {
    const F32Vec value = Codec::load(data + at);
    if constexpr (kKeep) F32Codec::store(value, out + at);
    return value;
  };
  double total = 0;
  std::size_t i = 0;
  while (i + 4 * lanes <= cols) {
    F32Vec sum0 = hn::Zero(tag), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    const std::size_t stop = std::min(cols - 4 * lanes, i + 4 * lanes * (kTerms - 1));
    for (; i <= stop; i += 4 * lanes) {
      const F32Vec value0 = next(i), value1 = next(i + lanes);
      const F32Vec value2 = next(i + 2 * lanes), value3 = next(i + 3 * lanes);
      sum0 = hn::MulAdd(value0, value0, sum0);
      sum1 = hn::MulAdd(value1, value1, sum1);
      sum2 = hn::MulAdd(value2, value2, sum2);
      sum3 = hn::MulAdd(value3, value3, sum3);
    }
    const F32Vec sum = hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(tag, sum)));
  }
  F32Vec rest = hn::Zero(tag);
  for (; i + lanes <= cols; i += lanes) {
    const F32Vec value = next(i);
    rest = hn::MulAdd(value, value, rest);
  }
  if (i < cols) {
    const F32Vec tail = load_tail<Codec>(data + i, cols - i);
    if constexpr (kKeep) F32Codec::store(tail, out + i);
    rest = hn::MulAdd(tail, tail, rest);
  }
  return total + static_cast<double>(hn::GetLane(hn::SumOfLanes(tag, rest)));
}

/// y of some elements: h * r * scale with the contract's roundings.
template <class Codec, bool kRounded>
HWY_ATTR F32Vec normalised(F32Vec h, F32Vec r, F32Vec scale) {
  F32Vec value = hn::Mul(h, r);
  if constexpr (kRounded) value = Codec::round(value);
  return hn::Mul(value, scale);
}

template <class Codec, bool kRounded>
HWY_ATTR void write_row(const float* h, float r, const RowsTask& task, void* out) {
  auto* y = static_cast<typename Codec::Raw*>(out);
  const F32Tag tag;
  const std::size_t lanes = hn::Lanes(tag);
  const F32Vec factor = hn::Set(tag, r);
  const std::size_t cols = task.cols;
  const float* scale = task.scale;
  const std::size_t vector_bytes = lanes * sizeof(typename Codec::Raw);
  std::size_t i = 0;
  if (task.stream && reinterpret_cast<std::uintptr_t>(y) % vector_bytes == 0) {
    for (; i + lanes <= cols; i += lanes) {
      Codec::stream(
          normalised<Codec, kRounded>(F32Codec::load(h + i), factor, F32Codec::load(scale + i)),
          y + i);
    }
  }
  for (; i + lanes <= cols; i += lanes) {
    Codec::store(
        normalised<Codec, kRounded>(F32Codec::load(h + i), factor, F32Codec::load(scale + i)),
        y + i);
  }
  if (i < cols) {
    const std::size_t rest = cols - i;
    const F32Vec value = normalised<Codec, kRounded>(load_tail<F32Codec>(h + i, rest), factor,
                                                     load_tail<F32Codec>(scale + i, rest));
    store_tail<Codec>(value, y + i, rest);
  }
}

/// h of a row, in the buffer or, where x is it already, in place; returns its sum of squares.
HWY_ATTR double load_row(const RowsTask& task, std::int64_t row, float* buffer, const float** h) {
  const void* x = task.x.row(row);
  const std::size_t cols = task.cols;
  *h = buffer;
  double squares = 0;
  if (task.residual.data == nullptr) {
    if (task.x.dtype == kF32) {
      *h = static_cast<const float*>(x);
      return sum_squares<F32Codec, false>(x, cols, nullptr);
    }
    visit_codec(task.x.dtype, [&](auto codec) HWY_ATTR {
      squares = sum_squares<decltype(codec), true>(x, cols, buffer);
    });
    return squares;
  }
  visit_codec(task.x.dtype,
              [&](auto codec) HWY_ATTR { widen_row<decltype(codec)>(x, cols, buffer); });
  visit_codec(task.residual.dtype, [&](auto codec) HWY_ATTR {
    add_row<decltype(codec)>(task.residual.row(row), cols, buffer);
  });
  if (task.residual_out.data != nullptr) {
    visit_codec(task.residual_out.dtype, [&](auto codec) HWY_ATTR {
      narrow_row<decltype(codec)>(buffer, cols, task.residual_out.row(row));
    });
  }
  return sum_squares<F32Codec, false>(buffer, cols, nullptr);
}

/// Rows [begin, end). `buffer` has room for a row of f32 and a vector more.
HWY_ATTR void run_rows(const RowsTask& task, std::int64_t begin, std::int64_t end, float* buffer) {
  for (std::int64_t row = begin; row < end; ++row) {
    const float* h = nullptr;
    const double squares = load_row(task, row, buffer, &h);
    const double mean = squares / static_cast<double>(task.cols);
    auto r = static_cast<float>(1 / std::sqrt(mean + task.eps));
    if (task.rstd != nullptr) task.rstd[row] = r;
    if (task.rounding == RmsNorm::Rounding::kNone) {
      visit_codec(task.x.dtype, [&](auto codec) HWY_ATTR {
        r = hn::GetLane(decltype(codec)::round(hn::Set(F32Tag(), r)));
      });
    }
    visit_codec(task.y.dtype, [&](auto codec) HWY_ATTR {
      using Codec = decltype(codec);
      if (task.rounding == RmsNorm::Rounding::kGemma) {
        write_row<Codec, false>(h, r, task, task.y.row(row));
      } else {
        write_row<Codec, true>(h, r, task, task.y.row(row));
      }
    });
  }
  if (task.stream) hwy::FlushStream();
}

/// w + offset, rounded to x's dtype where the contract says so. `out` as the buffer of run_rows.
HWY_ATTR void prepare_scale(const void* weight, DType weight_dtype, int offset, bool rounded,
                            DType x_dtype, std::size_t cols, float* out) {
  visit_codec(weight_dtype,
              [&](auto codec) HWY_ATTR { widen_row<decltype(codec)>(weight, cols, out); });
  const F32Vec added = hn::Set(F32Tag(), static_cast<float>(offset));
  visit_codec(x_dtype, [&](auto codec) HWY_ATTR {
    for (std::size_t i = 0; i < cols; i += hn::Lanes(F32Tag())) {
      const F32Vec sum = hn::Add(F32Codec::load(out + i), added);
      F32Codec::store(rounded ? decltype(codec)::round(sum) : sum, out + i);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace einkorn::rms_norm::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace einkorn::rms_norm::cpu {
namespace {

HWY_EXPORT(run_rows);
HWY_EXPORT(prepare_scale);

constexpr std::size_t kVectorSlack = 256;  // bytes: no vector of any instruction set is larger

std::size_t buffer_bytes(std::int64_t cols) {
  return static_cast<std::size_t>(cols) * sizeof(float) + kVectorSlack;
}

RowSpan span_of(const TensorView& tensor, std::int64_t rows) {
  if (!tensor.defined()) return {};
  // With at most one row any stride would do, and a strange one might overflow.
  const std::int64_t stride = rows > 1 ? collapsed_row_stride(tensor).value_or(0) : 0;
  return {tensor.data_as<char>(), stride * bits(tensor.dtype()) / 8, tensor.dtype()};
}

struct RowsV1 {
  static constexpr bool kBatchInvariant =
      true;  // a row is summed alone, in an order that follows from cols

  struct Tiling {
    bool stream = false;

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("stream", &Tiling::stream, "write y past the caches")};
    }
  };

  static std::optional<Refusal> supports(const RmsNorm::Problem&, const DeviceInfo&) {
    return std::nullopt;
  }

  static std::vector<Tiling> tilings(const RmsNorm::Problem& problem, const DeviceInfo& device) {
    const double bytes = static_cast<double>(problem.rows) * static_cast<double>(problem.cols) *
                         bits(problem.dtype) / 8;
    const bool stream = bytes > einkorn::cpu::cached_bytes(device);
    return {{stream}, {!stream}};
  }

  struct State {
    RmsNorm::Problem problem;
    bool stream;
  };

  static Plan plan(const RmsNorm::Problem& problem, const Tiling& tiling, const DeviceInfo&) {
    Plan plan;
    if (problem.rows == 0) return plan;
    plan.stages.emplace_back(
        host_stage<RmsNorm::Args, State>("rows_v1", State{problem, tiling.stream}, &run));
    return plan;
  }

  static void run(const RmsNorm::Args& args, const State& state) {
    const RmsNorm::Problem& problem = state.problem;
    const auto cols = static_cast<std::size_t>(problem.cols);
    const bool rounded = problem.rounding == RmsNorm::Rounding::kNone;
    RowsTask task;
    task.x = span_of(args.x, problem.rows);
    task.residual = span_of(args.residual, problem.rows);
    task.y = span_of(args.y, problem.rows);
    task.residual_out = span_of(args.residual_out, problem.rows);
    task.rstd = args.rstd.data_as<float>();
    task.cols = cols;
    task.eps = args.eps;
    task.rounding = problem.rounding;
    // In place the lines are in the cache already.
    task.stream = state.stream && task.y.data != task.x.data;

    std::unique_ptr<float[]> scale;
    if (problem.weight == kF32 && problem.offset == 0 && !(rounded && problem.dtype != kF32)) {
      task.scale = args.weight.data_as<float>();
    } else {
      scale.reset(new float[buffer_bytes(problem.cols) / sizeof(float)]);
      if (problem.weight) {
        HWY_DYNAMIC_DISPATCH(prepare_scale)
        (args.weight.data(), *problem.weight, problem.offset, rounded, problem.dtype, cols,
         scale.get());
      } else {
        std::fill_n(scale.get(), cols, 1.0F);
      }
      task.scale = scale.get();
    }
    constexpr std::int64_t kGrain = 1 << 15;  // elements: some 10 us, what a thread costs to wake
    einkorn::cpu::parallel_for(
        0, problem.rows, 1 + kGrain / problem.cols, [&](std::int64_t begin, std::int64_t end) {
          auto* buffer =
              static_cast<float*>(einkorn::cpu::thread_scratch(buffer_bytes(problem.cols)));
          HWY_DYNAMIC_DISPATCH(run_rows)(task, begin, end, buffer);
        });
  }
};

}  // namespace

extern const Variant rows_v1;
constexpr Variant rows_v1 = make_variant<RmsNorm, RowsV1>(
    "cpu", "rows", 1, "cpp", "a row at a time through the first caches, all threads, any layout");

}  // namespace einkorn::rms_norm::cpu
#endif  // HWY_ONCE
