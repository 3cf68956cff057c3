#pragma once

// What the CUDA variants of rms_norm_bwd share on the host.

#include <cstddef>
#include <cstdint>
#include <string>

#include "ops/norm/rms_norm_bwd/contract.h"
#include "ops/norm/rms_norm_bwd/params.h"

namespace einkorn::rms_norm_bwd {

/// Elements of a piece: the most that fit 16 bytes and divide the row. Where addresses are aligned
/// to less, a piece moves in several accesses: so the order of a row's sums is a matter of cols
/// alone.
int vector_width(const RmsNormBwd::Problem& problem);

/// Such pieces in a row.
int vectors(const RmsNormBwd::Problem& problem);

/// Bits of an element of all that a row is read from: dy, x and dresidual_out.
int input_bits(const RmsNormBwd::Problem& problem);

/// Bytes of inputs that a multiprocessor has to have asked for, at the bandwidth of an H200 and
/// 1 us of latency under load (Little's law).
inline constexpr double kEnoughInFlight = 40 * 1024;

/// The device type `Traits<...>` for a problem.
std::string traits(const RmsNormBwd::Problem& problem);

/// Parameters with all that depends on the problem alone; rows are summed in `partial_rows` parts.
Params make_params(const RmsNormBwd::Problem& problem, std::int64_t partial_rows);

/// Bytes of a workspace for the partial sums of dweight; 0 without dweight.
std::size_t partial_bytes(const Params& params);

/// Writes what depends on the call: pointers, strides, eps, offset. The workspace holds
/// partial_bytes() of partial sums, then what else a variant keeps there.
void bind(const RmsNormBwd::Args& args, std::byte* workspace, Params& params);

/// The second stage: dweight from the partial sums. `file` is the variant's own, which includes the
/// kernel.
LaunchStage sum_stage(std::string file, const RmsNormBwd::Problem& problem, const Params& params,
                      const DeviceInfo& device);

/// What the stage that writes dx and the partial sums moves and computes.
Cost gradient_cost(const RmsNormBwd::Problem& problem, const Params& params);

/// Of blocks that take rows in turn, `units` of them at most: as many as stay on the device,
/// `blocks` a multiprocessor, and 64 where it is small, since the contract's bound on dweight
/// counts on so many partial sums.
std::int64_t staying_blocks(std::int64_t units, int blocks, const DeviceInfo& device);

/// Such blocks' plan: `rows_stage(params)` writes dx and a row of partial sums for each of
/// `partial_rows` blocks, then these are added up.
template <class RowsStage>
Plan staying_plan(const char* file, const RmsNormBwd::Problem& problem, std::int64_t partial_rows,
                  const DeviceInfo& device, RowsStage&& rows_stage) {
  Plan out;
  const Params params = make_params(problem, partial_rows);
  out.workspace_bytes = partial_bytes(params);
  if (problem.rows > 0) out.stages.emplace_back(rows_stage(params));
  if (problem.dweight) out.stages.emplace_back(sum_stage(file, problem, params, device));
  return out;
}

}  // namespace einkorn::rms_norm_bwd
