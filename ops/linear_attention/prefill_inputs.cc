// Tensors that stand for a problem.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include <einkorn/error.h>

#include "ops/linear_attention/prefill.h"
#include "ops/linear_attention/prefill_tensors.h"
#include "ops/rows.h"
#include "src/core/float.h"
#include "src/cpu/elements.h"

namespace einkorn::linear_attention {
namespace {

// Elements of a block that large tensors repeat. Rows of a block are odd in number, so that heads
// do not meet the same rows at each token.
constexpr std::int64_t kBlock = std::int64_t{1} << 21;

/// Near to normal, within 4.3: the sum of six uniform numbers, whose variance is a half.
double normal(Rng& rng) {
  double sum = -3;
  for (int i = 0; i < 6; ++i) sum += rng.uniform();
  return sum * std::numbers::sqrt2;
}

/// Fills the rows [rows, width] of a gapless tensor: `draw(values)` gives a row.
template <class Draw>
void fill_rows(const TensorView& tensor, std::int64_t width, Draw&& draw) {
  if (tensor.numel() == 0) return;
  const std::int64_t rows = tensor.numel() / width;
  const std::int64_t block = std::min(rows, kBlock / width | 1);
  std::vector<double> values(static_cast<std::size_t>(width));
  cpu::visit_float(tensor.dtype(), [&](auto type) {
    for (std::int64_t row = 0; row < block; ++row) {
      draw(values);
      for (std::int64_t i = 0; i < width; ++i) {
        decltype(type)::store(tensor.data(), row * width + i, values[static_cast<std::size_t>(i)]);
      }
    }
  });
  const std::int64_t row_bytes = width * bits(tensor.dtype()) / 8;
  auto* data = tensor.data_as<char>();
  for (std::int64_t row = block; row < rows; row += block) {
    std::memcpy(data + row * row_bytes, data,
                static_cast<std::size_t>(std::min(block, rows - row) * row_bytes));
  }
}

/// Element by element.
template <class Draw>
void fill(const TensorView& tensor, Draw&& draw) {
  fill_rows(tensor, tensor.rank() > 0 ? tensor.size(-1) : 1, [&](std::vector<double>& values) {
    for (double& value : values) value = draw();
  });
}

/// The log of a decay: most of them forget within 1 to 1000 tokens, some forget nothing, a few all.
double draw_log_decay(Rng& rng) {
  const std::uint64_t kind = rng.next() % 256;
  if (kind == 0) return -40;
  if (kind < 16) return 0;
  return -std::exp(-7 * rng.uniform());
}

double draw_gate(Gate gate, Rng& rng) {
  switch (gate) {
    case Gate::kLog:
      return draw_log_decay(rng);
    case Gate::kFactor:
      return std::exp(draw_log_decay(rng));
    case Gate::kSoftplus:
    case Gate::kLowerBound:
      break;
  }
  // With biases around 0, decays of both the forgetful and the patient.
  return 3 * normal(rng) - 2;
}

/// Rows of q or k. Without the norm in the kernel k has to be of length below 1, as models see to:
/// the delta rule takes beta |k|^2 of what a key held, and beyond 2 it would grow without end.
void fill_heads(const TensorView& tensor, bool unit, Rng& rng) {
  fill_rows(tensor, tensor.size(-1), [&](std::vector<double>& values) {
    double squares = 0;
    for (double& value : values) {
      value = normal(rng);
      squares += value * value;
    }
    if (!unit || squares == 0) return;
    const double scale = (0.75 + 0.2 * rng.uniform()) / std::sqrt(squares);
    for (double& value : values) value *= scale;
  });
}

/// Decays of lightning attention's heads, from fast to slow.
void fill_decay(const TensorView& tensor, Gate gate) {
  const std::int64_t heads = tensor.numel();
  for (std::int64_t i = 0; i < heads; ++i) {
    const double log = -std::exp2(-8.0 * static_cast<double>(i + 1) / static_cast<double>(heads));
    store_from_double(tensor, i, gate == Gate::kLog ? log : std::exp(log));
  }
}

/// Makes tensors gapless and, those that the problem's alignment is of, exactly so aligned.
class Maker {
 public:
  Maker(const PrefillKind& kind, const PrefillProblem& problem, std::vector<Tensor>& storage)
      : problem_(problem), all_(prefill_tensors(kind, problem)), storage_(storage) {}

  /// "No tensor" where the problem has none. `rank` last sizes are the tensor's.
  TensorView make(std::string_view name, int rank) {
    const auto found = std::ranges::find(all_, name, &PrefillTensor::name);
    if (found == all_.end()) return {};
    std::int64_t count = 1;
    for (const std::int64_t size : found->shape) count *= size;
    const cpu::RowPlacement placement{.align = found->aligned ? problem_.align : cpu::kMaxAlign};
    const TensorView memory = cpu::place_vector(placement, count, found->dtype, storage_);
    return {memory.data(), found->dtype,
            std::span(found->shape).last(static_cast<std::size_t>(rank)), kCpuDevice};
  }

  /// [batch, tokens, heads]
  TensorView make_numbers(std::string_view name) {
    const TensorView view = make(name, 4);
    if (!view.defined()) return {};
    return {view.data(), view.dtype(), view.shape().first(3), kCpuDevice};
  }

 private:
  const PrefillProblem& problem_;
  std::vector<PrefillTensor> all_;
  std::vector<Tensor>& storage_;
};

void fill_gate(const PrefillKind& kind, const PrefillProblem& problem, PrefillTensors& out,
               Maker& make, Rng& rng) {
  if (!kind.delta) {
    out.decay = make.make("decay", 1);
    fill_decay(out.decay, problem.gate);
    return;
  }
  out.g = kind.channel_gate ? make.make("g", 4) : make.make_numbers("g");
  fill(out.g, [&] { return draw_gate(problem.gate, rng); });
  out.beta = make.make_numbers("beta");
  fill(out.beta,
       [&] { return problem.beta_form == Beta::kLogit ? 1.5 * normal(rng) : rng.uniform(); });
  if (problem.a_log) {
    out.a_log = make.make("a_log", 1);
    fill(out.a_log, [&] { return 2 * rng.uniform() - 1.5; });
  }
  if (problem.dt_bias) {
    const TensorView made = make.make("dt_bias", 2);
    out.dt_bias =
        kind.channel_gate ? made : TensorView(made.data(), kF32, made.shape().first(1), kCpuDevice);
    fill(out.dt_bias, [&] { return 2 * normal(rng); });
  }
}

/// Bounds of ragged sequences, i32 or i64 by turns, and how many states are stored on the way.
std::int64_t fill_bounds(const PrefillProblem& problem, PrefillTensors& out,
                         std::vector<Tensor>& storage, Rng& rng) {
  if (problem.seqs == 0) {
    return problem.checkpoint_every > 0
               ? problem.batch * (problem.tokens / problem.checkpoint_every)
               : 0;
  }
  const std::vector<std::int64_t> bounds = ragged_bounds(
      problem.seqs, problem.tokens, problem.longest, [&rng] { return rng.next() >> 1; });
  const DType dtype = problem.seqs % 2 == 0 ? kI32 : kI64;
  storage.push_back(Tensor::empty({problem.seqs + 1}, dtype, kCpuDevice));
  out.cu_seqlens = storage.back();
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (dtype == kI32) {
      out.cu_seqlens.data_as<std::int32_t>()[i] = static_cast<std::int32_t>(bounds[i]);
    } else {
      out.cu_seqlens.data_as<std::int64_t>()[i] = bounds[i];
    }
  }
  return problem.checkpoint_every > 0 ? Sequences(bounds).blocks(problem.checkpoint_every) : 0;
}

}  // namespace

PrefillTensors make_prefill_tensors(const PrefillKind& kind, const PrefillProblem& problem,
                                    std::vector<Tensor>& storage, Rng& rng) {
  Maker make(kind, problem, storage);
  PrefillTensors out;
  out.q = make.make("q", 4);
  out.k = make.make("k", 4);
  out.v = make.make("v", 4);
  out.o = make.make("o", 4);
  fill_heads(out.q, false, rng);
  fill_heads(out.k, !problem.l2norm, rng);
  fill(out.v, [&] { return normal(rng); });
  fill_gate(kind, problem, out, make, rng);
  out.initial_state = make.make("initial_state", 4);
  if (out.initial_state.defined()) fill(out.initial_state, [&] { return 0.5 * normal(rng); });
  out.final_state = make.make("final_state", 4);
  const std::int64_t stored = fill_bounds(problem, out, storage, rng);
  const TensorView checkpoints = make.make("checkpoints", 4);
  if (checkpoints.defined()) out.checkpoints = checkpoints.slice(0, 0, stored);
  return out;
}

}  // namespace einkorn::linear_attention
