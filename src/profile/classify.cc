#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "src/profile/counters.h"

namespace einkorn::profile {
namespace {

/// DRAM's bytes over those that have to be moved; 0: not known.
double excess(const Counters& c, double needed_bytes) {
  return c.dram_bytes && needed_bytes > 0 ? *c.dram_bytes / needed_bytes : 0;
}

/// Why the cache could save bytes; empty when it could not.
std::string poor_reuse(const Counters& c, double needed_bytes) {
  const double times = excess(c, needed_bytes);
  if (times > kExcessHigh) {
    return fmt::format("DRAM moved {:.2f} times the bytes that have to be > {}", times,
                       kExcessHigh);
  }
  if (times == 0 && c.l2_hit_percent && *c.l2_hit_percent < kL2HitLow) {
    return fmt::format("L2 hits {:.1f} % < {:.0f} %", *c.l2_hit_percent, kL2HitLow);
  }
  return {};
}

std::vector<std::string> notes_of(const Counters& c, double needed_bytes) {
  std::vector<std::string> out;
  const double local = c.local_load_bytes.value_or(0) + c.local_store_bytes.value_or(0);
  if (local > 0) {
    out.push_back(
        fmt::format("{:.0f} bytes to and from local memory > 0: registers spill, or a "
                    "local array is indexed at run time",
                    local));
  }
  if (c.waves && *c.waves < 1) {
    out.push_back(
        fmt::format("{:.2f} waves < 1: fewer blocks than fit on the device at once", *c.waves));
  }
  if (c.occupancy_percent && *c.occupancy_percent < kOccupancyLow) {
    out.push_back(fmt::format("occupancy {:.1f} % < {:.0f} %: few warps to hide latency with",
                              *c.occupancy_percent, kOccupancyLow));
  }
  if (std::string reason = poor_reuse(c, needed_bytes); !reason.empty()) {
    out.push_back(std::move(reason));
  }
  return out;
}

}  // namespace

Verdict classify(const Counters& c, double needed_bytes) {
  Verdict out{.bound = "unknown", .rule = {}, .notes = notes_of(c, needed_bytes)};
  if (!c.dram_percent || (!c.tensor_percent && !c.compute_percent)) {
    out.rule = "DRAM or compute throughput was not reported";
    return out;
  }
  const double dram = *c.dram_percent;
  const bool by_tensor = c.tensor_percent.value_or(0) >= c.compute_percent.value_or(0);
  const double compute = std::max(c.tensor_percent.value_or(0), c.compute_percent.value_or(0));
  const std::string reuse = poor_reuse(c, needed_bytes);
  const char* pipe = by_tensor ? "tensor" : "SM";
  if (compute > kComputeHigh && compute > dram) {
    out.bound = "compute";
    out.rule = fmt::format("{} {:.1f} % > {:.0f} % and more than DRAM's {:.1f} %", pipe, compute,
                           kComputeHigh, dram);
  } else if (dram > kDramHigh) {
    out.bound = "memory";
    out.rule = fmt::format("DRAM {:.1f} % > {:.0f} %, {} {:.1f} %", dram, kDramHigh, pipe, compute);
  } else if (!reuse.empty() && dram > kDramHigh / 2) {
    out.bound = "locality";
    out.rule = fmt::format("{} with DRAM {:.1f} % > {:.0f} %, {} {:.1f} %", reuse, dram,
                           kDramHigh / 2, pipe, compute);
  } else {
    out.bound = "latency";
    out.rule = fmt::format("DRAM {:.1f} % <= {:.0f} % and {} {:.1f} % <= {:.0f} %", dram, kDramHigh,
                           pipe, compute, kComputeHigh);
  }
  return out;
}

}  // namespace einkorn::profile
