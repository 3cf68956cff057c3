#pragma once

// What counters say of one kernel, and what they mean.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/profile/ncu_csv.h"

namespace einkorn::profile {

/// Nothing for what ncu did not report.
struct Counters {
  std::optional<double> duration_us;
  std::optional<double> dram_percent;       ///< of the memory's peak throughput
  std::optional<double> dram_bytes;         ///< read and written
  std::optional<double> tensor_percent;     ///< of cycles in which the tensor pipe was active
  std::optional<double> compute_percent;    ///< of peak, the busiest pipe or unit of the SM
  std::optional<double> occupancy_percent;  ///< achieved: resident warps of the most there can be
  std::optional<double> l2_hit_percent;     ///< sectors found in the L2 cache
  std::optional<double> local_load_bytes;   ///< from local memory: spills, and indexed local arrays
  std::optional<double> local_store_bytes;
  std::optional<double> waves;  ///< of blocks, a multiprocessor
  std::optional<double> registers;

  std::vector<std::string> missing;  ///< what was asked for and is not there, by our names
};

/// Each from the first of ncu's metrics that has a number; units are brought to ours.
Counters counters_of(const NcuKernel& kernel);

/// What to ask ncu for, as its arguments: sections, whose metrics fit the device, and metrics.
std::vector<std::string> counter_arguments();

/// What bounds a kernel, and the rule that says so.
struct Verdict {
  /// "memory", "compute", "latency", "locality", or "unknown".
  std::string bound;
  std::string rule;                ///< "DRAM 83.1 % > 70 % and tensor 2.0 % <= 60 %: ..."
  std::vector<std::string> notes;  ///< further rules that fired: spills, waves, occupancy, L2
};

// Thresholds, percent.
inline constexpr double kDramHigh = 70;
inline constexpr double kComputeHigh = 60;
inline constexpr double kOccupancyLow = 25;
inline constexpr double kL2HitLow = 80;
/// DRAM's bytes over those that a kernel has to move, from which on the cache could save some.
inline constexpr double kExcessHigh = 1.25;

/// The first rule that fires, in this order:
///   compute   tensor or another pipe of the SM over kComputeHigh, and more than DRAM
///   memory    DRAM over kDramHigh
///   locality  neither, DRAM over half of kDramHigh, and more bytes than there have to be: over
///             kExcessHigh times `needed_bytes`, or, where those are not known (0), L2 hits under
///             kL2HitLow
///   latency   neither: too few bytes and operations under way
/// "unknown": DRAM or compute was not reported.
Verdict classify(const Counters& counters, double needed_bytes = 0);

}  // namespace einkorn::profile
