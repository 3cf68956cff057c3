// Prefill on a CPU, a value head at a time.
//
// Idea: token by token, as the definition has it. The chunked form does no less arithmetic (its
// products with the state are the recurrence's; its triangle comes on top), and what it saves, the
// state's way from and to memory, costs nothing where the state stays in the first cache. It does
// when a block of columns goes through all tokens of a stretch before the next one does: K x 64
// columns of f32 are 32 KiB, with AVX2 K x 16 are 8 KiB. One sweep over a block does all that a
// token asks of it,
//
//   S <- diag(d) S + k u,   o = q S,   and for the next token h' = (d' k') S,
//
// so that each element is read and written once a token, for one multiplication and three
// multiply-adds: the arithmetic is the bound. What is the same for all columns, the gate, the norms
// and products of d with k, is prepared once for a stretch of tokens.
//
// Sums over K run in order, one accumulator a column; columns never meet, so that any cut of the
// value dimension gives the same bits. Nothing beyond a sequence's end is read or written.

// Highway includes this file once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/linear_attention/heads.cc"
#include "src/cpu/hwy_targets.h"
// After the targets.
#include <hwy/foreach_target.h>
// After the list of targets; -inl.h before anything that opens namespaces.
#include "ops/linear_attention/heads-inl.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ops/linear_attention/heads.h"
#include "src/core/float.h"
#include "src/cpu/threads.h"

HWY_BEFORE_NAMESPACE();
namespace einkorn::linear_attention {
namespace {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
// NOLINTNEXTLINE(google-build-using-namespace): the codecs of this instruction set
using namespace einkorn::cpu::HWY_NAMESPACE;
// NOLINTNEXTLINE(google-build-using-namespace): what prepares for this instruction set
using namespace einkorn::linear_attention::HWY_NAMESPACE;

/// Vectors of a block of columns: accumulators of o and h, u, and what a row needs have to be in
/// registers together.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3_ZEN4 || \
    HWY_TARGET == HWY_AVX3_SPR || HWY_TARGET == HWY_NEON
constexpr int kWidest = 4;
#else
constexpr int kWidest = 2;
#endif

/// A row of a block, in registers; the first kWidth are used.
struct BlockRow {
  F32Vec a, b, c, d;
};

HWY_INLINE HWY_ATTR BlockRow zero_row() {
  const F32Vec zero = hn::Zero(F32Tag());
  return {zero, zero, zero, zero};
}

/// Calls f(which vector, the vectors of each row) for those used.
template <int kWidth, class F, class... Rows>
HWY_INLINE HWY_ATTR void for_each_vector(F&& f, Rows&... rows) {
  f(std::size_t{0}, rows.a...);
  if constexpr (kWidth > 1) f(std::size_t{1}, rows.b...);
  if constexpr (kWidth > 2) {
    f(std::size_t{2}, rows.c...);
    f(std::size_t{3}, rows.d...);
  }
}

/// h = x^T S of a block.
template <int kWidth>
HWY_INLINE HWY_ATTR BlockRow project(const float* x, std::size_t keys, const float* state) {
  const F32Tag tag;
  BlockRow out = zero_row();
  for (std::size_t i = 0; i < keys; ++i) {
    const F32Vec factor = hn::Set(tag, x[i]);
    for_each_vector<kWidth>(
        [&](std::size_t w, F32Vec& h)
            HWY_ATTR { h = hn::MulAdd(factor, hn::Load(tag, state + w * lanes()), h); },
        out);
    state += kWidth * lanes();
  }
  return out;
}

/// What a token brings to the keys of a block, and the next one's decayed k.
struct KeyRows {
  const float* q;
  const float* k;
  const float* decay;
  const float* next;
};

/// One token through a block: S <- diag(d) S + k u. Gives o = q S; `h` becomes next S.
template <int kWidth, bool kDelta>
HWY_INLINE HWY_ATTR BlockRow step(const KeyRows& rows, std::size_t keys, BlockRow u, float* state,
                                  BlockRow& h) {
  const F32Tag tag;
  BlockRow o = zero_row();
  BlockRow next = o;
  for (std::size_t i = 0; i < keys; ++i) {
    const F32Vec q = hn::Set(tag, rows.q[i]);
    const F32Vec k = hn::Set(tag, rows.k[i]);
    const F32Vec d = hn::Set(tag, rows.decay[i]);
    const F32Vec x = kDelta ? hn::Set(tag, rows.next[i]) : q;
    for_each_vector<kWidth>(
        [&](std::size_t w, F32Vec& of_u, F32Vec& of_o, F32Vec& of_h) HWY_ATTR {
          float* const at = state + w * lanes();
          const F32Vec cell = hn::MulAdd(k, of_u, hn::Mul(d, hn::Load(tag, at)));
          hn::Store(cell, tag, at);
          of_o = hn::MulAdd(q, cell, of_o);
          if constexpr (kDelta) of_h = hn::MulAdd(x, cell, of_h);
        },
        u, o, next);
    state += kWidth * lanes();
  }
  h = next;
  return o;
}

/// All tokens of a stretch through a block of columns, `at` of the scratch's.
template <int kWidth, bool kDelta>
HWY_ATTR void sweep(const Scratch& scratch, std::int64_t key_dim, std::int64_t tokens,
                    std::size_t at) {
  const F32Tag tag;
  const auto keys = static_cast<std::size_t>(key_dim);
  float* const block = scratch.state + keys * at;
  BlockRow h = kDelta ? project<kWidth>(scratch.decayed_k, keys, block) : zero_row();
  for (std::int64_t t = 0; t < tokens; ++t) {
    const std::size_t row = static_cast<std::size_t>(t) * scratch.keys;
    const std::size_t columns = static_cast<std::size_t>(t) * scratch.columns + at;
    const F32Vec beta = hn::Set(tag, scratch.beta[t]);
    BlockRow u = zero_row();
    for_each_vector<kWidth>(
        [&](std::size_t w, F32Vec& of_u, F32Vec& of_h) HWY_ATTR {
          of_u = hn::LoadU(tag, scratch.v + columns + w * lanes());
          if constexpr (kDelta) of_u = hn::Mul(beta, hn::Sub(of_u, of_h));
        },
        u, h);
    // Behind the last token of a stretch any row will do: h is not used again.
    const std::size_t next = t + 1 < tokens ? row + scratch.keys : row;
    const KeyRows rows{scratch.q + row, scratch.k + row, scratch.decay + row,
                       scratch.decayed_k + next};
    BlockRow o = step<kWidth, kDelta>(rows, keys, u, block, h);
    for_each_vector<kWidth>(
        [&](std::size_t w, F32Vec& of_o)
            HWY_ATTR { hn::StoreU(of_o, tag, scratch.o + columns + w * lanes()); },
        o);
  }
}

/// Vectors of the block that begins at a column.
HWY_ATTR int block_width(const Scratch& scratch, std::size_t at) {
  const std::size_t left = (scratch.columns - at) / lanes();
  if (kWidest == 4 && left >= 4) return 4;
  return left >= 2 ? 2 : 1;
}

template <bool kDelta>
HWY_ATTR void sweep_all(const Scratch& scratch, std::int64_t key_dim, std::int64_t tokens) {
  for (std::size_t at = 0; at < scratch.columns;) {
    const int width = block_width(scratch, at);
    if (width == 4) {
      sweep<kWidest == 4 ? 4 : 2, kDelta>(scratch, key_dim, tokens, at);
    } else if (width == 2) {
      sweep<2, kDelta>(scratch, key_dim, tokens, at);
    } else {
      sweep<1, kDelta>(scratch, key_dim, tokens, at);
    }
    at += static_cast<std::size_t>(width) * lanes();
  }
}

/// Calls f(offset in the scratch's state, key, column) for every element of a span's state.
template <class F>
HWY_ATTR void for_each_cell(const Scratch& scratch, std::int64_t key_dim, std::int64_t count,
                            F&& f) {
  const auto keys = static_cast<std::size_t>(key_dim);
  for (std::size_t at = 0; at < scratch.columns;) {
    const std::size_t width = static_cast<std::size_t>(block_width(scratch, at)) * lanes();
    const std::size_t used = std::min(width, static_cast<std::size_t>(count) - at);
    for (std::size_t i = 0; i < keys; ++i) {
      for (std::size_t j = 0; j < used; ++j) {
        f(keys * at + i * width + j, static_cast<std::int64_t>(i),
          static_cast<std::int64_t>(at + j));
      }
    }
    at += width;
  }
}

HWY_ATTR void load_state(const HeadsTask& task, const HeadSpan& span, Scratch& scratch) {
  const std::size_t floats = static_cast<std::size_t>(task.key_dim) * scratch.columns;
  std::fill_n(scratch.state, floats, 0.0F);
  const States& from = task.initial_state;
  if (from.data == nullptr) return;
  const std::int64_t offset =
      from.offset(span.sequence, span.head) + span.first * from.value_stride();
  for_each_cell(
      scratch, task.key_dim, span.count,
      [&](std::size_t cell, std::int64_t key, std::int64_t column) {
        const std::int64_t i = offset + key * from.key_stride() + column * from.value_stride();
        scratch.state[cell] = from.dtype == kF32
                                  ? static_cast<const float*>(from.data)[i]
                                  : from_bf16(static_cast<const std::uint16_t*>(from.data)[i]);
      });
}

HWY_ATTR void store_state(const HeadsTask& task, const HeadSpan& span, const Scratch& scratch,
                          const States& to, std::int64_t number_of_state) {
  if (to.data == nullptr) return;
  const std::int64_t offset =
      to.offset(number_of_state, span.head) + span.first * to.value_stride();
  for_each_cell(scratch, task.key_dim, span.count,
                [&](std::size_t cell, std::int64_t key, std::int64_t column) {
                  const std::int64_t i =
                      offset + key * to.key_stride() + column * to.value_stride();
                  if (to.dtype == kF32) {
                    static_cast<float*>(to.data)[i] = scratch.state[cell];
                  } else {
                    static_cast<std::uint16_t*>(to.data)[i] = to_bf16(scratch.state[cell]);
                  }
                });
}

/// The biases of a head's channels, padded; null where there are none.
HWY_ATTR const float* padded_bias(const HeadsTask& task, std::int64_t head, float* memory) {
  if (task.dt_bias == nullptr || !task.channel_gate) return nullptr;
  widen(reinterpret_cast<const char*>(task.dt_bias + head * task.key_dim), kF32, task.key_dim,
        memory);
  return memory;
}

HWY_ATTR void run_span(const HeadsTask& task, const HeadSpan& span) {
  Scratch scratch = make_scratch(task.key_dim, span.count);
  HWY_ALIGN float bias_memory[kMaxHeadDim + hn::MaxLanes(F32Tag())];
  const float* bias = padded_bias(task, span.head, bias_memory);
  load_state(task, span, scratch);
  const std::int64_t element_v = bits(task.v.dtype) / 8;
  for (std::int64_t done = 0; done < span.length;) {
    const std::int64_t tokens = std::min(kStretch, span.length - done);
    const std::int64_t first = span.begin + done;
    prepare(task, first, tokens, span.head, bias, scratch);
    for (std::int64_t i = 0; i < tokens; ++i) {
      widen(task.v.at(first + i, span.head) + span.first * element_v, task.v.dtype, span.count,
            scratch.v + static_cast<std::size_t>(i) * scratch.columns);
    }
    if (task.delta) {
      sweep_all<true>(scratch, task.key_dim, tokens);
    } else {
      sweep_all<false>(scratch, task.key_dim, tokens);
    }
    for (std::int64_t i = 0; i < tokens; ++i) {
      narrow(scratch.o + static_cast<std::size_t>(i) * scratch.columns, task.o.dtype, span.count,
             const_cast<char*>(task.o.at(first + i, span.head)) + span.first * element_v);
    }
    done += tokens;
    if (task.checkpoint_every > 0 && done % task.checkpoint_every == 0) {
      store_state(task, span, scratch, task.checkpoints,
                  span.checkpoints_before + done / task.checkpoint_every - 1);
    }
  }
  store_state(task, span, scratch, task.final_state, span.sequence);
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace einkorn::linear_attention
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace einkorn::linear_attention {
namespace {

HWY_EXPORT(run_span);

HeadRows rows_of(const TensorView& tensor) {
  const TokenRows rows = token_rows(tensor);
  const std::int64_t element = bits(rows.dtype) / 8;
  return {static_cast<const char*>(rows.data), rows.dtype, rows.token * element,
          rows.head * element};
}

const float* floats_of(const TensorView& tensor) {
  return tensor.defined() ? tensor.data_as<const float>() : nullptr;
}

HeadsTask task_of(const PrefillCall& call) {
  HeadsTask task;
  task.q = rows_of(call.q);
  task.k = rows_of(call.k);
  task.v = rows_of(call.v);
  task.g = rows_of(call.g);
  task.beta = rows_of(call.beta);
  task.o = rows_of(call.o);
  task.initial_state = call.states(call.initial_state);
  task.final_state = call.states(call.final_state);
  task.checkpoints = call.states(call.checkpoints);
  task.decay = floats_of(call.decay);
  task.a_log = floats_of(call.a_log);
  task.dt_bias = floats_of(call.dt_bias);
  task.key_dim = call.key_dim();
  task.value_heads = call.value_heads();
  task.group = call.value_heads() / call.heads();
  task.checkpoint_every = call.checkpoint_every;
  task.scale = call.used_scale();
  task.lower_bound = call.lower_bound;
  task.gate = call.gate;
  task.beta_form = call.beta_form;
  task.negative_eigenvalues = call.negative_eigenvalues;
  task.l2norm = call.l2norm;
  task.delta = call.delta;
  task.channel_gate = call.delta && call.channel_gate;
  return task;
}

/// Of each sequence, the states stored before its first.
std::vector<std::int64_t> checkpoints_before(const Sequences& sequences, std::int64_t every) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(sequences.count()), 0);
  for (std::size_t i = 1; i < out.size() && every > 0; ++i) {
    out[i] = out[i - 1] + sequences.length(static_cast<std::int64_t>(i) - 1) / every;
  }
  return out;
}

}  // namespace

void run_heads(const PrefillCall& call, std::int64_t columns) {
  const HeadsTask task = task_of(call);
  const Sequences sequences = call.sequences();
  const std::vector<std::int64_t> before = checkpoints_before(sequences, task.checkpoint_every);
  const std::int64_t width = columns > 0 ? std::min(columns, call.value_dim()) : call.value_dim();
  const std::int64_t parts = (call.value_dim() + width - 1) / width;
  const std::int64_t tasks = sequences.count() * task.value_heads * parts;
  cpu::parallel_for(0, tasks, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t sequence = i / (task.value_heads * parts);
      const std::int64_t first = i % parts * width;
      const HeadSpan span{.sequence = sequence,
                          .begin = sequences.begin(sequence),
                          .length = sequences.length(sequence),
                          .checkpoints_before = before[static_cast<std::size_t>(sequence)],
                          .head = i / parts % task.value_heads,
                          .first = first,
                          .count = std::min(width, call.value_dim() - first)};
      HWY_DYNAMIC_DISPATCH(run_span)(task, span);
    }
  });
}

std::vector<std::int64_t> head_columns(const PrefillProblem& problem, int threads) {
  const std::int64_t heads = problem.sequences() * problem.value_heads;
  std::vector<std::int64_t> out{0};
  for (std::int64_t columns = problem.value_dim / 2; columns >= 32; columns /= 2) {
    // Multiples of the widest vectors, so that no part has a rest of its own.
    out.push_back((columns + 15) / 16 * 16);
  }
  // As few parts as keep all threads busy to the end: each prepares the gates again.
  const auto enough = std::ranges::find_if(out, [&](std::int64_t columns) {
    const std::int64_t parts = columns == 0 ? 1 : (problem.value_dim + columns - 1) / columns;
    return heads * parts >= 2 * std::int64_t{threads};
  });
  const auto first = enough == out.end() ? out.end() - 1 : enough;
  std::rotate(out.begin(), first, first + 1);
  return out;
}

}  // namespace einkorn::linear_attention
#endif  // HWY_ONCE
