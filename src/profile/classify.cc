#include <algorithm>

#include <fmt/format.h>

#include "src/profile/counters.h"

namespace einkorn::profile {
namespace {

std::vector<std::string> notes_of(const Counters& c) {
  std::vector<std::string> out;
  const double local = c.local_load_bytes.value_or(0) + c.local_store_bytes.value_or(0);
  if (local > 0) {
    out.push_back(fmt::format("{:.0f} bytes to and from local memory > 0: registers spill, or a "
                              "local array is indexed at run time",
                              local));
  }
  if (c.waves && *c.waves < 1) {
    out.push_back(fmt::format("{:.2f} waves < 1: some multiprocessors have no block", *c.waves));
  }
  if (c.occupancy_percent && *c.occupancy_percent < kOccupancyLow) {
    out.push_back(fmt::format("occupancy {:.1f} % < {:.0f} %: few warps to hide latency with",
                              *c.occupancy_percent, kOccupancyLow));
  }
  if (c.l2_hit_percent && *c.l2_hit_percent < kL2HitLow) {
    out.push_back(fmt::format("L2 hits {:.1f} % < {:.0f} %: expected where every byte is read once",
                              *c.l2_hit_percent, kL2HitLow));
  }
  return out;
}

}  // namespace

Verdict classify(const Counters& c) {
  Verdict out{.bound = "unknown", .rule = {}, .notes = notes_of(c)};
  if (!c.dram_percent || (!c.tensor_percent && !c.compute_percent)) {
    out.rule = "DRAM or compute throughput was not reported";
    return out;
  }
  const double dram = *c.dram_percent;
  const bool by_tensor = c.tensor_percent.value_or(0) >= c.compute_percent.value_or(0);
  const double compute = std::max(c.tensor_percent.value_or(0), c.compute_percent.value_or(0));
  const char* pipe = by_tensor ? "tensor" : "SM";
  if (compute > kComputeHigh && compute > dram) {
    out.bound = "compute";
    out.rule = fmt::format("{} {:.1f} % > {:.0f} % and more than DRAM's {:.1f} %", pipe, compute,
                           kComputeHigh, dram);
  } else if (dram > kDramHigh) {
    out.bound = "memory";
    out.rule = fmt::format("DRAM {:.1f} % > {:.0f} %, {} {:.1f} %", dram, kDramHigh, pipe, compute);
  } else if (c.l2_hit_percent && *c.l2_hit_percent < kL2HitLow && dram > kDramHigh / 2) {
    out.bound = "locality";
    out.rule = fmt::format(
        "DRAM {:.1f} % and {} {:.1f} % are low, L2 hits {:.1f} % < {:.0f} % with DRAM over {:.0f} %",
        dram, pipe, compute, *c.l2_hit_percent, kL2HitLow, kDramHigh / 2);
  } else {
    out.bound = "latency";
    out.rule = fmt::format("DRAM {:.1f} % <= {:.0f} % and {} {:.1f} % <= {:.0f} %", dram, kDramHigh,
                           pipe, compute, kComputeHigh);
  }
  return out;
}

}  // namespace einkorn::profile
