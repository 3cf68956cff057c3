// rms_norm_bwd/cpu/rows_v1: one pass over memory, a row at a time.
//
// Idea: the two sums of a row bring dy and x into the first caches; a second loop finds them there,
// writes dx and adds dy * x^ to a row of partial sums. Rows are cut into chunks, as many as the
// problem has rows and columns for, each with partial sums of its own in the workspace: which rows
// a chunk takes, and the order in which chunks are added up, know nothing of threads. w + offset is
// prepared once a call. dx larger than this process's part of the last-level cache is written past
// it.
//
// Sums of a row: 4 vectors of partial sums over at most 128 terms each, added as a tree; the sums
// of such blocks in double.

// Highway includes this file once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/norm/rms_norm_bwd/cpu/rows_v1.cc"
#include "src/cpu/hwy_targets.h"
// After the targets.
#include <hwy/foreach_target.h>
// After the list of targets; -inl.h before anything that opens namespaces.
#include "src/cpu/codec-inl.h"
#include "src/cpu/sums-inl.h"

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

#include "ops/norm/rms_norm_bwd/contract.h"
#include "src/core/float.h"
#include "src/cpu/column_factors.h"
#include "src/cpu/describe.h"
#include "src/cpu/threads.h"

#ifndef EINKORN_RMS_NORM_BWD_CPU_ROWS_V1_
#define EINKORN_RMS_NORM_BWD_CPU_ROWS_V1_
namespace einkorn::rms_norm_bwd::cpu {
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
  RowSpan dy, x, residual, dx;
  const float* rstd = nullptr;   ///< null: from the rows
  const float* scale = nullptr;  ///< w + offset as the contract rounds it, or 1; [cols]
  std::size_t cols = 0;
  double eps = 0;
  RmsNorm::Rounding rounding = RmsNorm::Rounding::kLlama;
  bool stream = false;
};

/// What a row's gradients need of its sums.
struct RowFactors {
  float r;
  float slope;   ///< r * mean(m * h * r)
  float factor;  ///< r as the forward multiplied h by it
};

/// Sums over one row.
struct RowSums {
  double squares = 0, products = 0;
};

}  // namespace
}  // namespace einkorn::rms_norm_bwd::cpu
#endif  // EINKORN_RMS_NORM_BWD_CPU_ROWS_V1_

HWY_BEFORE_NAMESPACE();
namespace einkorn::rms_norm_bwd::cpu {
namespace {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
// NOLINTNEXTLINE(google-build-using-namespace): the codecs of this instruction set
using namespace einkorn::cpu::HWY_NAMESPACE;

/// Elements widened.
template <class Codec>
HWY_ATTR void widen_row(const void* source, std::size_t cols, float* out) {
  const auto* data = static_cast<const typename Codec::Raw*>(source);
  const std::size_t lanes = hn::Lanes(F32Tag());
  std::size_t i = 0;
  for (; i + lanes <= cols; i += lanes) F32Codec::store(Codec::load(data + i), out + i);
  if (i < cols) F32Codec::store(load_tail<Codec>(data + i, cols - i), out + i);
}

template <class Codec>
HWY_ATTR void narrow_row(const float* source, std::size_t cols, void* out) {
  auto* data = static_cast<typename Codec::Raw*>(out);
  const std::size_t lanes = hn::Lanes(F32Tag());
  std::size_t i = 0;
  for (; i + lanes <= cols; i += lanes) Codec::store(F32Codec::load(source + i), data + i);
  if (i < cols) store_tail<Codec>(load_tail<F32Codec>(source + i, cols - i), data + i, cols - i);
}

/// Running sums of h * h and m * h.
struct Sums {
  F32Vec squares, products;

  HWY_ATTR void add(F32Vec h, F32Vec dy, F32Vec scale) {
    squares = hn::MulAdd(h, h, squares);
    products = hn::MulAdd(hn::Mul(dy, scale), h, products);
  }
  friend HWY_ATTR Sums operator+(const Sums& a, const Sums& b) {
    return {hn::Add(a.squares, b.squares), hn::Add(a.products, b.products)};
  }
};

template <class Codec>
HWY_ATTR RowSums sum_row(const void* dy_row, const void* x_row, const float* scale,
                         std::size_t cols) {
  const auto* dy = static_cast<const typename Codec::Raw*>(dy_row);
  const auto* x = static_cast<const typename Codec::Raw*>(x_row);
  RowSums total;
  sum_in_chains(
      cols, Sums{hn::Zero(F32Tag()), hn::Zero(F32Tag())},
      [&](Sums& sums, std::size_t at) HWY_ATTR {
        sums.add(Codec::load(x + at), Codec::load(dy + at), F32Codec::load(scale + at));
      },
      [&](Sums& sums, std::size_t at, std::size_t count) HWY_ATTR {
        sums.add(load_tail<Codec>(x + at, count), load_tail<Codec>(dy + at, count),
                 load_tail<F32Codec>(scale + at, count));
      },
      [&](const Sums& sums) HWY_ATTR {
        total.squares += total_of(sums.squares);
        total.products += total_of(sums.products);
      });
  return total;
}

/// dx of some elements, and dy * x^ with x^ as the forward had it.
template <class Codec, bool kRounded>
struct Gradients {
  F32Vec r, slope, factor;

  explicit HWY_ATTR Gradients(const RowFactors& row)
      : r(hn::Set(F32Tag(), row.r)),
        slope(hn::Set(F32Tag(), row.slope)),
        factor(hn::Set(F32Tag(), row.factor)) {}

  HWY_ATTR F32Vec dx(F32Vec dy, F32Vec h, F32Vec scale) const {
    const F32Vec m = hn::Mul(dy, scale);
    return hn::NegMulAdd(hn::Mul(h, r), slope, hn::Mul(r, m));
  }
  HWY_ATTR F32Vec add_dweight(F32Vec dy, F32Vec h, F32Vec sum) const {
    F32Vec normalised = hn::Mul(h, factor);
    if constexpr (kRounded) normalised = Codec::round(normalised);
    return hn::MulAdd(dy, normalised, sum);
  }
};

/// Writes dx of a row and adds to the partial sums. `added` (in f32) and `sums` may be null.
template <class Codec, bool kRounded>
HWY_ATTR void write_row(const RowsTask& task, std::int64_t row, const RowFactors& factors,
                        const float* added, float* sums) {
  using Raw = typename Codec::Raw;
  const auto* dy_row = static_cast<const Raw*>(task.dy.row(row));
  const auto* x_row = static_cast<const Raw*>(task.x.row(row));
  auto* dx_row = static_cast<Raw*>(task.dx.row(row));
  const Gradients<Codec, kRounded> gradients(factors);
  const std::size_t lanes = hn::Lanes(F32Tag());
  const std::size_t cols = task.cols;
  const float* scale = task.scale;
  const bool stream =
      task.stream && reinterpret_cast<std::uintptr_t>(dx_row) % (lanes * sizeof(Raw)) == 0;
  std::size_t i = 0;
  for (; i + lanes <= cols; i += lanes) {
    const F32Vec dy = Codec::load(dy_row + i);
    const F32Vec h = Codec::load(x_row + i);
    F32Vec dx = gradients.dx(dy, h, F32Codec::load(scale + i));
    if (added != nullptr) dx = hn::Add(dx, F32Codec::load(added + i));
    if (sums != nullptr) {
      F32Codec::store(gradients.add_dweight(dy, h, F32Codec::load(sums + i)), sums + i);
    }
    if (stream) {
      Codec::stream(dx, dx_row + i);
    } else {
      Codec::store(dx, dx_row + i);
    }
  }
  if (i == cols) return;
  const std::size_t rest = cols - i;
  const F32Vec dy = load_tail<Codec>(dy_row + i, rest);
  const F32Vec h = load_tail<Codec>(x_row + i, rest);
  F32Vec dx = gradients.dx(dy, h, load_tail<F32Codec>(scale + i, rest));
  if (added != nullptr) dx = hn::Add(dx, load_tail<F32Codec>(added + i, rest));
  if (sums != nullptr) {
    const F32Vec sum = load_tail<F32Codec>(sums + i, rest);
    store_tail<F32Codec>(gradients.add_dweight(dy, h, sum), sums + i, rest);
  }
  store_tail<Codec>(dx, dx_row + i, rest);
}

/// r of a row, its slope, and r as the forward used it.
HWY_ATTR RowFactors factors_of(const RowsTask& task, std::int64_t row) {
  RowSums sums;
  visit_codec(task.x.dtype, [&](auto codec) HWY_ATTR {
    sums = sum_row<decltype(codec)>(task.dy.row(row), task.x.row(row), task.scale, task.cols);
  });
  const auto cols = static_cast<double>(task.cols);
  RowFactors out{};
  out.r = task.rstd != nullptr ? task.rstd[row]
                               : static_cast<float>(1 / std::sqrt(sums.squares / cols + task.eps));
  const auto r = static_cast<double>(out.r);
  out.slope = static_cast<float>(r * (r * (sums.products / cols)));
  out.factor = out.r;
  if (task.rounding == RmsNorm::Rounding::kNone) {
    visit_codec(task.x.dtype, [&](auto codec) HWY_ATTR {
      out.factor = hn::GetLane(decltype(codec)::round(hn::Set(F32Tag(), out.r)));
    });
  }
  return out;
}

/// Rows [begin, end), their dweight added to `sums` unless that is null. `buffer` has room for a
/// row of f32 and a vector more.
HWY_ATTR void run_rows(const RowsTask& task, std::int64_t begin, std::int64_t end, float* buffer,
                       float* sums) {
  if (sums != nullptr) std::fill_n(sums, task.cols, 0.0F);
  for (std::int64_t row = begin; row < end; ++row) {
    const RowFactors factors = factors_of(task, row);
    const float* added = nullptr;
    if (task.residual.data != nullptr) {
      visit_codec(task.residual.dtype, [&](auto codec) HWY_ATTR {
        widen_row<decltype(codec)>(task.residual.row(row), task.cols, buffer);
      });
      added = buffer;
    }
    visit_codec(task.x.dtype, [&](auto codec) HWY_ATTR {
      using Codec = decltype(codec);
      if (task.rounding == RmsNorm::Rounding::kGemma) {
        write_row<Codec, false>(task, row, factors, added, sums);
      } else {
        write_row<Codec, true>(task, row, factors, added, sums);
      }
    });
  }
  if (task.stream) hwy::FlushStream();
}

/// dweight of columns [begin, end) from `chunks` rows of `stride` partial sums; `buffer` as above.
HWY_ATTR void sum_columns(const float* partials, std::int64_t chunks, std::size_t stride,
                          std::size_t begin, std::size_t end, float* buffer, void* out,
                          DType dtype) {
  const std::size_t lanes = hn::Lanes(F32Tag());
  const std::size_t cols = end - begin;
  std::fill_n(buffer, cols, 0.0F);
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const float* from = partials + static_cast<std::size_t>(chunk) * stride + begin;
    std::size_t i = 0;
    for (; i + lanes <= cols; i += lanes) {
      F32Codec::store(hn::Add(F32Codec::load(buffer + i), F32Codec::load(from + i)), buffer + i);
    }
    for (; i < cols; ++i) buffer[i] += from[i];
  }
  visit_codec(dtype, [&](auto codec) HWY_ATTR {
    using Codec = decltype(codec);
    narrow_row<Codec>(buffer, cols, static_cast<typename Codec::Raw*>(out) + begin);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace einkorn::rms_norm_bwd::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace einkorn::rms_norm_bwd::cpu {
namespace {

HWY_EXPORT(run_rows);
HWY_EXPORT(sum_columns);

using Args = RmsNormBwd::Args;
using Problem = RmsNormBwd::Problem;

constexpr std::size_t kVectorSlack = 256;  // bytes: no vector of any instruction set is larger
constexpr std::int64_t kGrain = 1 << 15;   // elements: some 10 us, what a thread costs to wake

std::size_t buffer_floats(std::int64_t cols) {
  return static_cast<std::size_t>(cols) + kVectorSlack / sizeof(float);
}

float* thread_buffer(std::int64_t cols) {
  return static_cast<float*>(einkorn::cpu::thread_scratch(buffer_floats(cols) * sizeof(float)));
}

RowSpan span_of(const TensorView& tensor, std::int64_t rows) {
  if (!tensor.defined()) return {};
  // With at most one row any stride would do, and a strange one might overflow.
  const std::int64_t stride = rows > 1 ? collapsed_row_stride(tensor).value_or(0) : 0;
  return {tensor.data_as<char>(), stride * bits(tensor.dtype()) / 8, tensor.dtype()};
}

/// Chunks of rows with partial sums of their own. From the problem alone. The contract asks for 64
/// partial sums where there are as many rows; more, so that many threads have work, where a chunk
/// still is worth waking one.
std::int64_t chunks_of(const Problem& problem) {
  const std::int64_t worth = std::min<std::int64_t>(256, problem.rows * problem.cols / kGrain);
  return std::min(problem.rows, std::max<std::int64_t>(64, worth));
}

/// w + offset, in `memory` unless the weight itself will do.
const float* scale_of(const Args& args, const Problem& problem, std::unique_ptr<float[]>& memory) {
  const einkorn::cpu::ColumnFactors factors{
      args.weight, problem.offset,
      problem.rounding == RmsNorm::Rounding::kNone ? problem.dtype : kF32};
  if (factors.are_the_weight()) return args.weight.data_as<float>();
  memory.reset(new float[static_cast<std::size_t>(problem.cols)]);
  factors.write(problem.cols, memory.get());
  return memory.get();
}

struct RowsV1 {
  /// dx of a row does not depend on other rows; dweight is over all of them by its meaning.
  static constexpr bool kBatchInvariant = true;

  struct Tiling {
    bool stream = false;

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("stream", &Tiling::stream, "write dx past the caches")};
    }
  };

  static std::optional<Refusal> supports(const Problem&, const DeviceInfo&) { return std::nullopt; }

  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo& device) {
    const double bytes = static_cast<double>(problem.rows) * static_cast<double>(problem.cols) *
                         bits(problem.dtype) / 8;
    const bool stream = bytes > einkorn::cpu::cached_bytes(device);
    return {{stream}, {!stream}};
  }

  struct State {
    Problem problem;
    bool stream;
  };

  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo&) {
    Plan plan;
    const State state{problem, tiling.stream};
    const Work work = RmsNormBwd::work(problem);
    const double sums = static_cast<double>(chunks_of(problem)) * static_cast<double>(problem.cols);
    if (problem.dweight) {
      plan.workspace_bytes =
          static_cast<std::size_t>(chunks_of(problem) * problem.cols) * sizeof(float);
    }
    if (problem.rows > 0) {
      HostStage rows = host_stage<Args, State>("rows_v1", state, &run);
      rows.cost = {.flops = work.useful_flops,
                   .bytes = work.min_bytes + (problem.dweight ? sums * sizeof(float) : 0)};
      plan.stages.emplace_back(std::move(rows));
    }
    if (problem.dweight) {
      HostStage columns = host_stage<Args, State>("sum_partials", state, &sum_partials);
      columns.cost = {.flops = sums, .bytes = sums * sizeof(float)};
      plan.stages.emplace_back(std::move(columns));
    }
    return plan;
  }

  static void run(const Args& args, std::byte* workspace, const State& state) {
    const Problem& problem = state.problem;
    RowsTask task;
    task.dy = span_of(args.dy, problem.rows);
    task.x = span_of(args.x, problem.rows);
    task.residual = span_of(args.dresidual_out, problem.rows);
    task.dx = span_of(args.dx, problem.rows);
    task.rstd = args.rstd.data_as<float>();
    task.cols = static_cast<std::size_t>(problem.cols);
    task.eps = args.eps;
    task.rounding = problem.rounding;
    // In place the lines are in the cache already.
    task.stream =
        state.stream && task.dx.data != task.dy.data && task.dx.data != task.residual.data;
    std::unique_ptr<float[]> memory;
    task.scale = scale_of(args, problem, memory);
    const std::int64_t chunks = chunks_of(problem);
    auto* partials = problem.dweight ? reinterpret_cast<float*>(workspace) : nullptr;
    const std::int64_t chunk_elements = problem.rows / chunks * problem.cols;
    einkorn::cpu::parallel_for(
        0, chunks, 1 + kGrain / chunk_elements, [&](std::int64_t begin, std::int64_t end) {
          float* buffer = thread_buffer(problem.cols);
          for (std::int64_t chunk = begin; chunk < end; ++chunk) {
            HWY_DYNAMIC_DISPATCH(run_rows)
            (task, problem.rows * chunk / chunks, problem.rows * (chunk + 1) / chunks, buffer,
             partials == nullptr ? nullptr : partials + chunk * problem.cols);
          }
        });
  }

  static void sum_partials(const Args& args, std::byte* workspace, const State& state) {
    const Problem& problem = state.problem;
    const std::int64_t chunks = chunks_of(problem);
    einkorn::cpu::parallel_for(0, problem.cols, 1 + kGrain / std::max<std::int64_t>(1, chunks),
                               [&](std::int64_t begin, std::int64_t end) {
                                 HWY_DYNAMIC_DISPATCH(sum_columns)
                                 (reinterpret_cast<const float*>(workspace), chunks,
                                  static_cast<std::size_t>(problem.cols),
                                  static_cast<std::size_t>(begin), static_cast<std::size_t>(end),
                                  thread_buffer(end - begin), args.dweight.data(),
                                  *problem.dweight);
                               });
  }
};

}  // namespace

extern const Variant rows_v1;
constexpr Variant rows_v1 = make_variant<RmsNormBwd, RowsV1>(
    "cpu", "rows", 1, "cpp", "a row at a time through the first caches, all threads, any layout");

}  // namespace einkorn::rms_norm_bwd::cpu
#endif  // HWY_ONCE
