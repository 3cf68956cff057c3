#include "ops/linear_attention/tokens_plan.h"

#include <algorithm>
#include <limits>

#include <einkorn/cuda.h>
#include <fmt/format.h>

#include "ops/launch.h"
#include "ops/linear_attention/decode.h"

namespace einkorn::linear_attention {
namespace {

/// Columns that a thread loads at once, and the most of a row that it has.
constexpr int kPiece = 4;
constexpr int kMostColumns = 16;

int ceil_div(int a, int b) { return (a + b - 1) / b; }

int columns_of_thread(const PrefillProblem& problem, int lanes) {
  return kPiece * ceil_div(static_cast<int>(problem.key_dim), kPiece * lanes);
}

std::int64_t rows_of_block(const Tokens::Tiling& tiling) {
  return std::int64_t{32} / tiling.lanes * tiling.rows * tiling.warps;
}

std::int64_t parts(const PrefillProblem& problem, const Tokens::Tiling& tiling) {
  const std::int64_t rows = rows_of_block(tiling);
  return (problem.value_dim + rows - 1) / rows;
}

/// Below 2^63: at most 2^20 sequences of 2^16 heads of 2^8 parts.
std::int64_t blocks(const PrefillProblem& problem, const Tokens::Tiling& tiling) {
  return problem.sequences() * problem.value_heads * parts(problem, tiling);
}

/// The fewest lanes that hold a row.
int lanes_of(const PrefillProblem& problem) {
  int lanes = 1;
  while (columns_of_thread(problem, lanes) > kMostColumns) lanes *= 2;
  return lanes;
}

bool is_power_of_two(int value) { return value > 0 && (value & (value - 1)) == 0; }

Update update_of(const PrefillKind& kind) {
  if (!kind.delta) return Update::kDecay;
  return kind.channel_gate ? Update::kChannelDelta : Update::kHeadDelta;
}

std::string traits(const PrefillKind& kind, const PrefillProblem& problem) {
  return jit::instantiate(
      "einkorn::linear_attention::DecodeTraits",
      {problem.dtype, kind.delta ? problem.gate_dtype : kF32,
       kind.delta ? std::optional(problem.beta_dtype) : std::nullopt, kF32,
       static_cast<int>(update_of(kind)), static_cast<int>(problem.gate),
       problem.beta_form == Beta::kLogit, problem.l2norm, problem.key_dim, problem.dtype == kF32});
}

/// Of a tensor of heads, from token to token and from head to head.
void bind_strides(const TensorView& tensor, long long& token, long long& head) {
  token = cuda::row_stride(tensor, 2);
  head = tensor.stride(2);
}

void bind_gate(const PrefillCall& call, TokensParams& params) {
  params.g = call.delta ? call.g.data() : call.decay.data();
  params.beta = call.beta.data();
  params.a_log = call.a_log.data_as<const float>();
  params.dt_bias = call.dt_bias.data_as<const float>();
  params.g_token = 0;
  params.g_head = 1;
  if (call.delta && call.channel_gate) bind_strides(call.g, params.g_token, params.g_head);
  // A gate of numbers a head has its heads side by side, as beta has.
  if (call.delta && !call.channel_gate) params.g_token = cuda::row_stride(call.g);
  params.beta_token = cuda::row_stride(call.beta);
  params.beta_scale = call.negative_eigenvalues ? 2 : 1;
  params.lower_bound = static_cast<float>(call.lower_bound);
}

}  // namespace

std::optional<Refusal> Tokens::supports(const PrefillProblem& problem, const DeviceInfo& device) {
  if (!tilings(problem, device).empty()) return std::nullopt;
  return validate(problem, {.lanes = lanes_of(problem), .rows = 2, .warps = 4}, device);
}

std::optional<Refusal> Tokens::validate(const PrefillProblem& problem, const Tiling& tiling,
                                        const DeviceInfo&) {
  const auto [lanes, rows, warps] = tiling;
  if (!is_power_of_two(lanes) || lanes > 32) {
    return Refusal{fmt::format("lanes {} is not a power of two up to 32", lanes)};
  }
  const int columns = columns_of_thread(problem, lanes);
  if (columns > kMostColumns) {
    return Refusal{fmt::format("{} columns a thread > {}", columns, kMostColumns)};
  }
  if (rows < 1 || rows > 4) return Refusal{fmt::format("rows {} is not one of 1 to 4", rows)};
  if (warps < 1 || warps > 8) return Refusal{fmt::format("warps {} is not one of 1 to 8", warps)};
  const std::int64_t wanted = blocks(problem, tiling);
  if (wanted <= cuda::kMaxBlocks) return std::nullopt;
  return Refusal{fmt::format("{} blocks > {}, the widest grid", wanted, cuda::kMaxBlocks)};
}

std::vector<Tokens::Tiling> Tokens::tilings(const PrefillProblem& problem,
                                            const DeviceInfo& device) {
  std::vector<Tiling> out;
  const auto add = [&](Tiling tiling) {
    // A block has no more rows than the head, but for those of a single warp.
    while (tiling.warps > 1 && rows_of_block(tiling) > problem.value_dim) tiling.warps /= 2;
    if (std::ranges::find(out, tiling) == out.end() && !validate(problem, tiling, device)) {
      out.push_back(tiling);
    }
  };
  const int lanes = lanes_of(problem);
  add({.lanes = lanes, .rows = 2, .warps = 4});
  // For few heads, then for many of them.
  add({.lanes = lanes, .rows = 1, .warps = 4});
  add({.lanes = 2 * lanes, .rows = 2, .warps = 4});
  add({.lanes = lanes, .rows = 4, .warps = 4});
  return out;
}

TokensParams tokens_params(const PrefillProblem& problem, const Tokens::Tiling& tiling) {
  const bool kv = problem.state_layout == StateLayout::kKv;
  TokensParams params{};
  params.tokens = static_cast<int>(problem.tokens);
  params.value_heads = static_cast<int>(problem.value_heads);
  params.group = static_cast<int>(problem.value_heads / problem.heads);
  params.value_dim = static_cast<int>(problem.value_dim);
  params.state_key = kv ? params.value_dim : 1;
  params.state_value = kv ? 1 : static_cast<int>(problem.key_dim);
  // No sequence comes to a checkpoint beyond what an int holds.
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  params.checkpoint_every = static_cast<int>(std::min(problem.checkpoint_every, kMost));
  params.parts = static_cast<unsigned>(parts(problem, tiling));
  return params;
}

void bind_tokens(const PrefillCall& call, std::byte* workspace, TokensParams& params) {
  params.q = call.q.data();
  params.k = call.k.data();
  params.v = call.v.data();
  params.o = call.o.data();
  bind_gate(call, params);
  params.initial = call.initial_state.data();
  params.final = call.final_state.data();
  params.checkpoints = call.checkpoints.data();
  // The starts are all of the workspace.
  params.starts =
      call.cu_seqlens.defined() ? reinterpret_cast<const SequenceStart*>(workspace) : nullptr;
  bind_strides(call.q, params.q_token, params.q_head);
  bind_strides(call.k, params.k_token, params.k_head);
  bind_strides(call.v, params.v_token, params.v_head);
  bind_strides(call.o, params.o_token, params.o_head);
  params.scale = static_cast<float>(call.used_scale());
}

cuda::Launch tokens_launch(const PrefillProblem& problem, const Tokens::Tiling& tiling,
                           const DeviceInfo& device) {
  return cuda::line_of_blocks(blocks(problem, tiling), 32 * tiling.warps, device);
}

Needs tokens_needs(const Tokens::Tiling& tiling) {
  return {.registers = registers_under_bounds(32 * tiling.warps), .static_smem = 0};
}

Cost tokens_cost(const PrefillKind& kind, const PrefillProblem& problem) {
  const Work work = prefill_work(kind, problem);
  return {.flops = work.executed_flops, .bytes = work.min_bytes, .unit = Unit::kF32};
}

std::string tokens_entry(const PrefillKind& kind, const PrefillProblem& problem, const char* name,
                         const Tokens::Tiling& tiling) {
  return jit::instantiate(
      name, {traits(kind, problem), problem.align, tiling.lanes, tiling.rows, tiling.warps,
             problem.initial_state, problem.final_state, problem.checkpoints});
}

}  // namespace einkorn::linear_attention
