#include "ops/linear_attention/tokens_plan.h"

#include <algorithm>
#include <limits>

#include <einkorn/cuda.h>
#include <fmt/format.h>

#include "ops/launch.h"

namespace einkorn::linear_attention {
namespace {

/// Columns that a thread loads at once, and the most of a row that it has.
constexpr int kPiece = 4;
constexpr int kMostColumns = 16;

int ceil_div(int a, int b) { return (a + b - 1) / b; }

int columns_of_thread(const PrefillProblem& problem, int lanes) {
  return kPiece * ceil_div(static_cast<int>(problem.key_dim), kPiece * lanes);
}

/// Below 2^63: at most 2^20 sequences of 2^16 heads of 2^8 parts.
std::int64_t blocks(const PrefillProblem& problem, const Tokens::Tiling& tiling) {
  return problem.sequences() * problem.value_heads *
         parts_of(problem.value_dim, tiling.rows_of_block());
}

/// The fewest lanes that hold a row.
int lanes_of(const PrefillProblem& problem) {
  int lanes = 1;
  while (columns_of_thread(problem, lanes) > kMostColumns) lanes *= 2;
  return lanes;
}

Update update_of(bool delta, bool channel_gate) {
  if (!delta) return Update::kDecay;
  return channel_gate ? Update::kChannelDelta : Update::kHeadDelta;
}

}  // namespace

std::optional<Refusal> Tokens::supports(const PrefillProblem& problem, const DeviceInfo& device) {
  if (!tilings(problem, device).empty()) return std::nullopt;
  return validate(problem, {.lanes = lanes_of(problem), .rows = 2, .warps = 4}, device);
}

std::optional<Refusal> Tokens::validate(const PrefillProblem& problem, const Tiling& tiling,
                                        const DeviceInfo&) {
  const auto [lanes, rows, warps] = tiling;
  if (!divides_warp(lanes)) {
    return Refusal{fmt::format("lanes {} is not a power of two up to 32", lanes)};
  }
  const int columns = columns_of_thread(problem, lanes);
  if (columns > kMostColumns) {
    return Refusal{fmt::format("{} columns a thread > {}", columns, kMostColumns)};
  }
  if (rows < 1 || rows > 4) return Refusal{fmt::format("rows {} is not one of 1 to 4", rows)};
  if (warps < 1 || warps > 8) return Refusal{fmt::format("warps {} is not one of 1 to 8", warps)};
  return refuse_blocks(blocks(problem, tiling));
}

std::vector<Tokens::Tiling> Tokens::tilings(const PrefillProblem& problem,
                                            const DeviceInfo& device) {
  std::vector<Tiling> out;
  const auto add = [&](Tiling tiling) {
    // A block has no more rows than the head, but for those of a single warp.
    while (tiling.warps > 1 && tiling.rows_of_block() > problem.value_dim) tiling.warps /= 2;
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
  describe_step(problem, tiling.rows_of_block(), params);
  params.state_key = kv ? params.value_dim : 1;
  params.state_value = kv ? 1 : static_cast<int>(problem.key_dim);
  // No sequence comes to a checkpoint beyond what an int holds.
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  params.checkpoint_every = static_cast<int>(std::min(problem.checkpoint_every, kMost));
  return params;
}

void bind_tokens(const PrefillCall& call, std::byte* workspace, TokensParams& params) {
  bind_step(call, update_of(call.delta, call.channel_gate), params);
  params.initial = call.initial_state.data();
  params.final = call.final_state.data();
  params.checkpoints = call.checkpoints.data();
  params.starts = bound_starts(call, workspace);
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
  return jit::instantiate(name, {step_traits(update_of(kind.delta, kind.channel_gate), problem,
                                             kF32, problem.dtype == kF32),
                                 problem.align, tiling.lanes, tiling.rows, tiling.warps,
                                 problem.initial_state, problem.final_state, problem.checkpoints});
}

}  // namespace einkorn::linear_attention
