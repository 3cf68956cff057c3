#include "ops/linear_attention/decode_launch.h"

#include <algorithm>
#include <array>

#include <einkorn/match.h>
#include <fmt/format.h>

#include "ops/launch.h"

namespace einkorn::linear_attention {
namespace {

constexpr std::array<std::int64_t, 5> kKeyDims{64, 96, 128, 192, 256};
/// Bytes of state that a thread has in flight, unless told otherwise.
constexpr int kStateBytes = 64;

/// Elements of a 16-byte piece of state.
int piece(const DecodeProblem& problem) { return 128 / bits(problem.state_dtype); }

/// What both kernels cannot have.
std::optional<Refusal> refuse_shape(const DecodeProblem& problem, StateLayout layout) {
  if (problem.state_layout != layout) {
    return Refusal{fmt::format("state_layout {}: this variant is for {}",
                               name(problem.state_layout), name(layout))};
  }
  if (std::ranges::find(kKeyDims, problem.key_dim) == kKeyDims.end()) {
    return Refusal{fmt::format("key_dim {} is none of 64, 96, 128, 192 and 256", problem.key_dim)};
  }
  return std::nullopt;
}

std::int64_t blocks(const DecodeProblem& problem, std::int64_t of_block) {
  // Below 2^63: at most 2^31 sequences of 2^16 heads of 2^8 parts.
  return problem.seqs * problem.value_heads * parts_of(problem.value_dim, of_block);
}

std::optional<Refusal> refuse_registers(int needed, int threads) {
  if (needed <= registers_under_bounds(threads)) return std::nullopt;
  return Refusal{fmt::format("{} registers a thread > {}, what a block of {} threads has", needed,
                             registers_under_bounds(threads), threads)};
}

/// `of_block`: rows or columns of a value head that a block has.
DecodeLaunch start_launch(const DecodeProblem& problem, std::int64_t of_block, int threads,
                          const DeviceInfo& device) {
  DecodeLaunch out{};
  out.launch = cuda::line_of_blocks(blocks(problem, of_block), threads, device);
  DecodeParams& params = out.params;
  describe_step(problem, of_block, params);
  params.index_bytes = problem.indices ? bits(*problem.indices) / 8 : 0;
  params.per_token = problem.per_token ? 1 : 0;
  if (out.launch.pdl) {
    const int resident = device.sm_count * (device.max_threads_per_sm / threads);
    params.early_blocks = static_cast<unsigned>(resident);
  }
  return out;
}

std::string traits(Update update, const DecodeProblem& problem) {
  return step_traits(update, problem, problem.state_dtype, false);
}

/// What the kernels get along with, over all dtypes, gates and shapes, for sm_80 to sm_100
/// (tests/ops/compile_test.cc): addresses and scalars, the state, and what a token brings.
int registers(const DecodeProblem& problem, const DecodeRows::Tiling& tiling) {
  const int own = static_cast<int>(problem.key_dim) / tiling.lanes;
  return 64 + own * tiling.rows + 4 * own + 2 * tiling.rows;
}
int registers(const DecodeProblem& problem, const DecodeColumns::Tiling& tiling) {
  const int keys = static_cast<int>(problem.key_dim) * tiling.lanes / tiling.threads;
  return 64 + keys * piece(problem) + 4 * piece(problem) + 5 * keys;
}

/// Of __launch_bounds__: as many blocks as have room with so many registers. Left to itself the
/// assembler saves more of them, and then spills one or two.
int min_blocks(int registers, int threads) {
  constexpr int kRegisters = 65536;  // of a multiprocessor
  return std::max(1, kRegisters / (threads * ((registers + 7) / 8 * 8)));
}

/// 64 bytes of f32 state in whole warps, and not in few: the shape in which the assembler, left to
/// itself, saves registers and does not spill, 56 on sm_90 for KDA, so that more blocks are there.
bool is_left_alone(const DecodeProblem& problem, const DecodeRows::Tiling& tiling) {
  return tiling.lanes == 32 && tiling.warps > 2 && problem.state_dtype == kF32 &&
         problem.key_dim * tiling.rows == 512;
}

std::int64_t columns_of_block(const DecodeProblem& problem, const DecodeColumns::Tiling& tiling) {
  return std::int64_t{tiling.lanes} * piece(problem);
}

}  // namespace

void bind_decode(const DecodeCall& call, DecodeParams& params) {
  bind_step(call, call.update, params);
  params.indices = call.state_indices.data();
  params.accepted = call.accepted.data_as<const int>();
  params.state = call.state.data();
  params.pool = call.state.size(0);
}

std::optional<Refusal> DecodeRows::supports(const DecodeProblem& problem,
                                            const DeviceInfo& device) {
  if (auto refusal = refuse_shape(problem, StateLayout::kVk)) return refusal;
  if (!tilings(problem, device).empty()) return std::nullopt;
  return refuse_blocks(blocks(problem, 32));
}

std::optional<Refusal> DecodeRows::validate(const DecodeProblem& problem, const Tiling& tiling) {
  const auto [lanes, rows, warps] = tiling;
  const auto pieces = static_cast<int>(problem.key_dim) / piece(problem);
  if (!divides_warp(lanes) || pieces % lanes != 0) {
    return Refusal{fmt::format("lanes {} is not a power of two up to 32 that divides {} pieces",
                               lanes, pieces)};
  }
  if (rows < 1 || rows > 16) return Refusal{fmt::format("rows {} is not one of 1 to 16", rows)};
  if (warps < 1 || warps > 32) {
    return Refusal{fmt::format("warps {} is not one of 1 to 32", warps)};
  }
  if (auto refusal = refuse_registers(registers(problem, tiling), 32 * warps)) return refusal;
  return refuse_blocks(blocks(problem, tiling.rows_of_block()));
}

std::vector<DecodeRows::Tiling> DecodeRows::tilings(const DecodeProblem& problem,
                                                    const DeviceInfo&) {
  int most_lanes = 32;
  const auto pieces = static_cast<int>(problem.key_dim) / piece(problem);
  while (pieces % most_lanes != 0) most_lanes /= 2;
  std::vector<Tiling> out;
  const auto add = [&](const Tiling& tiling) {
    // A block has no more rows than the head; the last is for those of few rows.
    const bool fits = tiling.rows_of_block() <= problem.value_dim;
    if (!fits && (tiling.warps > 1 || !out.empty())) return;
    if (std::ranges::find(out, tiling) == out.end() && !validate(problem, tiling)) {
      out.push_back(tiling);
    }
  };
  for (int lanes = most_lanes; lanes >= 4 && lanes >= most_lanes / 4; lanes /= 2) {
    const int own_bytes = static_cast<int>(problem.key_dim) / lanes * bits(problem.state_dtype) / 8;
    const auto rows = [&](int bytes) { return std::max(1, bytes / own_bytes); };
    add({lanes, rows(kStateBytes), 4});
    add({lanes, rows(2 * kStateBytes), 4});
    add({lanes, rows(kStateBytes), 8});
    // Smaller blocks, for few sequences.
    add({lanes, rows(kStateBytes), 2});
    if (lanes == most_lanes) add({lanes, rows(kStateBytes / 2), 4});
    if (out.empty()) add({lanes, 1, 1});
  }
  return out;
}

DecodeLaunch DecodeRows::launch_of(Update update, const DecodeProblem& problem,
                                   const Tiling& tiling, const DeviceInfo& device) {
  const auto [lanes, rows, warps] = tiling;
  DecodeLaunch out = start_launch(problem, tiling.rows_of_block(), 32 * warps, device);
  const int blocks = min_blocks(registers(problem, tiling), 32 * warps);
  out.arguments = {traits(update, problem),
                   problem.align,
                   lanes,
                   rows,
                   warps,
                   is_left_alone(problem, tiling) ? 0 : blocks};
  out.needs = {.registers = registers_under_bounds(32 * warps, blocks), .static_smem = 0};
  return out;
}

std::optional<Refusal> DecodeColumns::supports(const DecodeProblem& problem,
                                               const DeviceInfo& device) {
  if (auto refusal = refuse_shape(problem, StateLayout::kKv)) return refusal;
  if (problem.value_dim % piece(problem) != 0) {
    return Refusal{fmt::format("value_dim {} is not a multiple of {}, a piece of the state",
                               problem.value_dim, piece(problem))};
  }
  if (!tilings(problem, device).empty()) return std::nullopt;
  return refuse_blocks(blocks(problem, std::int64_t{8} * piece(problem)));
}

std::optional<Refusal> DecodeColumns::validate(const DecodeProblem& problem, const Tiling& tiling) {
  const auto [lanes, threads] = tiling;
  if (!divides_warp(lanes)) {
    return Refusal{fmt::format("lanes {} is not a power of two up to 32", lanes)};
  }
  if (auto refusal = cuda::refuse_threads(threads)) return refusal;
  const auto groups = threads / lanes;
  if (problem.key_dim % groups != 0) {
    return Refusal{
        fmt::format("{} groups of {} lanes do not divide {} keys", groups, lanes, problem.key_dim)};
  }
  if (auto refusal = refuse_registers(registers(problem, tiling), threads)) return refusal;
  return refuse_blocks(blocks(problem, columns_of_block(problem, tiling)));
}

std::vector<DecodeColumns::Tiling> DecodeColumns::tilings(const DecodeProblem& problem,
                                                          const DeviceInfo&) {
  std::vector<Tiling> out;
  for (const int lanes : {8, 4}) {
    for (const int keys : {4, 8, 2}) {
      const Tiling tiling{lanes, static_cast<int>(problem.key_dim) * lanes / keys};
      if (!validate(problem, tiling)) out.push_back(tiling);
    }
  }
  return out;
}

DecodeLaunch DecodeColumns::launch_of(Update update, const DecodeProblem& problem,
                                      const Tiling& tiling, const DeviceInfo& device) {
  const auto [lanes, threads] = tiling;
  DecodeLaunch out = start_launch(problem, columns_of_block(problem, tiling), threads, device);
  // A third of a power of two of threads: bounded for three blocks the assembler spills.
  const bool thirds = problem.key_dim % 3 == 0;
  const int blocks = thirds ? 1 : min_blocks(registers(problem, tiling), threads);
  out.arguments = {traits(update, problem), problem.align, lanes, threads, blocks};
  const int sums = 2 * piece(problem) + 4;
  out.needs = {.registers = registers_under_bounds(threads, blocks),
               .static_smem = std::int64_t{2} * (threads / 32) * lanes * sums * 4};
  return out;
}

}  // namespace einkorn::linear_attention
