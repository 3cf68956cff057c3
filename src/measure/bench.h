#pragma once

// Time: kernels by device events over graph replays, CPU variants by the steady clock; always on
// rotating inputs larger than the last-level cache, against a plain copy of the same bytes measured
// in the same rounds.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <einkorn/op.h>
#include <einkorn/registry.h>

namespace einkorn::measure {

/// Median and quartiles, microseconds.
struct Timing {
  double median_us = 0, q1_us = 0, q3_us = 0;
  int samples = 0;
};
Timing summarize(std::vector<double> microseconds);

struct PeerResult {
  std::string name;  ///< "liger", "torch.compile", "torch"
  std::string version;
  Timing timing;
  std::string skipped;  ///< why it did not run; empty when it did
};

/// What the device's clocks did meanwhile, by NVML; zeros and an empty text without it.
struct Clocks {
  unsigned sm_mhz_start = 0;
  unsigned sm_mhz_end = 0;
  unsigned memory_mhz = 0;
  std::string throttle;  ///< reasons seen at the start or the end; empty: none
};

struct BenchResult {
  std::string variant;
  std::string case_name;
  std::string problem;
  std::string tiling;
  Timing timing;
  Timing copy;  ///< a copy that reads half and writes half of the minimum bytes: the fastest
                ///< of the driver's (or memcpy on all threads) and a kernel of 16 bytes a thread
  std::string copied_by;  ///< "memcpy" or "kernel"
  double gbps = 0;        ///< minimum bytes over the median time, 1e9 bytes/s
  double tflops = 0;      ///< useful flops over the median time
  std::string roof;       ///< what bounds it: "memory", "compute", "latency", or "cache" when one
                          ///< call's bytes fit the last-level cache
  double percent_of_roof = 0;  ///< of the datasheet's rate; 0 when unknown or roof is "cache"
  double percent_of_measured_roof = 0;  ///< of the rate measured on such a device; 0 likewise
  double percent_of_copy = 0;           ///< copy's median over ours
  double predicted_us = 0;              ///< by the roofline; 0 when nothing is known of the device
  std::vector<PeerResult> peers;
  Clocks clocks;
  int input_sets = 0;   ///< rotated over, all of them together larger than the cache if they can
  std::string failure;  ///< why it could not be measured; empty when it was
};

struct BenchOptions {
  Device device;
  /// Empty: the one that would be chosen; "all": all that serve but the reference; or a name.
  std::string variant;
  bool all_tilings = false;
  bool peers = false;
  double seconds = 0.3;  ///< measuring time for each variant and case
  std::uint64_t seed = 1;
  std::function<void(const std::string&)> progress;
  /// How many rounds are done and how many there will be; before each. May be empty.
  std::function<void(int done, int rounds)> round;
  /// Asked after each round: true ends the measurement, and what was measured is the result.
  std::function<bool()> stop;
};

/// Measures one case; its variants, the copy and the peers interleaved in rounds of one sample
/// each. What cannot be measured is a result whose `failure` says why. Throws for an unknown
/// variant's name and an absent device.
std::vector<BenchResult> bench(const OpEntry& entry, const AnyProblem& problem,
                               const std::string& case_name, const BenchOptions& options);

/// Cost on the CPU of one call, nanoseconds (medians): the op through its public entry point with
/// its plan cached, and a bare cuLaunchKernelEx of the same kernel with the same parameters.
struct CallCost {
  double op_ns = 0;
  double bare_launch_ns = 0;  ///< 0 on the CPU
};
/// Give a small problem: a launch queue that fills up, or the work itself on the CPU, counts in.
CallCost call_cost(const OpEntry& entry, const AnyProblem& problem, Device device);

}  // namespace einkorn::measure
