#pragma once

// When each kernel of a plan ran, and on which stream.

#include <functional>
#include <string>
#include <vector>

#include <einkorn/cuda.h>

#include "src/profile/concurrent_nodes.h"
#include "src/profile/subject.h"

namespace einkorn::profile {

/// One kernel of one run.
struct Span {
  std::string name;    ///< stage, its path in the plan's tree
  std::string kernel;  ///< name in the cubin
  std::uint32_t stream = 0;
  double start_us = 0;  ///< from the start of the run's first kernel
  double duration_us = 0;
  cuda::Dim3 grid, block;
  int registers = 0;

  double end_us() const { return start_us + duration_us; }
};

/// Time in which no kernel of the run ran, between two of them.
struct Gap {
  std::string before;  ///< the kernel that ended last
  std::string after;   ///< the one that starts behind the gap
  double us = 0;
};

/// How far branches ran side by side.
struct BranchOverlap {
  std::string name;
  double sum_us = 0;      ///< of its kernels' durations
  double span_us = 0;     ///< from the first start to the last end
  double overlap_us = 0;  ///< in which kernels of two branches or more ran
};

struct Timeline {
  std::vector<Span> kernels;  ///< in the order of their launches
  double span_us = 0;         ///< from the first start to the last end
  double busy_us = 0;         ///< in which at least one kernel ran
  double overlap_us = 0;      ///< in which two or more ran
  std::vector<Gap> gaps;
  std::vector<BranchOverlap> concurrent;
  int runs = 0;  ///< recorded; this is the one of median span
};

/// Overlap and gaps of one run. `kernels[i]` is the i-th leaf of the plan with `nodes`.
Timeline analyse(std::vector<Span> kernels, const std::vector<ConcurrentNode>& nodes);

/// Runs the plan a few times and records its kernels with CUPTI. The runs are queued behind fills
/// that take longer than queueing them, so that gaps are the device's and not those of launching.
///
/// ValueError: not a CUDA device, or an empty problem. RuntimeError: CUPTI is missing or refuses,
/// or it recorded other kernels than were launched.
Timeline profile_timeline(const Subject& subject,
                          const std::function<void(const std::string&)>& progress);

/// Trace Event Format, as Perfetto and chrome://tracing load it: a row for each stream.
std::string chrome_trace(const Timeline& timeline, const std::string& title);

}  // namespace einkorn::profile
