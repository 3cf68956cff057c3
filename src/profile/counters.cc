#include "src/profile/counters.h"

#include <array>
#include <span>
#include <utility>

namespace einkorn::profile {
namespace {

/// A factor for each unit that ncu prints for what we ask; its own short and long names.
struct Unit {
  std::string_view name;
  double factor;
};
constexpr Unit kTimeUnits[] = {{"ns", 1e-3}, {"nsecond", 1e-3}, {"us", 1},  {"usecond", 1},
                               {"ms", 1e3},  {"msecond", 1e3},  {"s", 1e6}, {"second", 1e6}};
constexpr Unit kByteUnits[] = {{"byte", 1},    {"B", 1},       {"Kbyte", 1e3},
                               {"KB", 1e3},    {"Mbyte", 1e6}, {"MB", 1e6},
                               {"Gbyte", 1e9}, {"GB", 1e9},    {"Tbyte", 1e12}};

/// 1 for a unit that is not in the list, as "%" and "register/thread".
double factor_of(std::string_view unit, std::span<const Unit> units) {
  for (const Unit& one : units) {
    if (one.name == unit) return one.factor;
  }
  return 1;
}

/// One of our numbers, and what it is called by ncu: first the metric, then what the details page
/// calls it.
struct Source {
  std::string_view name;
  std::optional<double> Counters::* field;
  std::array<std::string_view, 4> metrics;
  std::span<const Unit> units = {};
};

// Nsight Compute, "Metrics Reference" and the metrics of its sections. Names differ between
// generations of the hardware: the first that is there counts.
constexpr Source kSources[] = {
    {"duration", &Counters::duration_us, {"gpu__time_duration.sum", "Duration"}, kTimeUnits},
    {"dram",
     &Counters::dram_percent,
     {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
      "dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM Throughput"}},
    {"dram_bytes", &Counters::dram_bytes, {"dram__bytes.sum"}, kByteUnits},
    {"tensor",
     &Counters::tensor_percent,
     {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
      "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
      "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
      "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active"}},
    {"compute",
     &Counters::compute_percent,
     {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "Compute (SM) Throughput"}},
    {"occupancy",
     &Counters::occupancy_percent,
     {"sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy"}},
    {"l2_hit", &Counters::l2_hit_percent, {"lts__t_sector_hit_rate.pct", "L2 Hit Rate"}},
    {"local_load",
     &Counters::local_load_bytes,
     {"l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum"},
     kByteUnits},
    {"local_store",
     &Counters::local_store_bytes,
     {"l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum"},
     kByteUnits},
    {"waves", &Counters::waves, {"launch__waves_per_multiprocessor", "Waves Per SM"}},
    {"registers", &Counters::registers, {"launch__registers_per_thread", "Registers Per Thread"}},
};

std::optional<double> value_of(const NcuKernel& kernel, const Source& source) {
  for (const std::string_view metric : source.metrics) {
    if (metric.empty()) break;
    const NcuValue* value = kernel.find(metric);
    if (value == nullptr) continue;
    if (const auto number = value->number()) return *number * factor_of(value->unit, source.units);
  }
  return std::nullopt;
}

/// DRAM's bytes from its rate, which a section of ncu has on every device.
std::optional<double> dram_bytes_by_rate(const NcuKernel& kernel, const Counters& counters) {
  const NcuValue* rate = kernel.find("dram__bytes.sum.per_second");
  if (rate == nullptr || !counters.duration_us) return std::nullopt;
  const auto number = rate->number();
  if (!number) return std::nullopt;
  const std::string_view unit = std::string_view(rate->unit).substr(0, rate->unit.find('/'));
  return *number * factor_of(unit, kByteUnits) * *counters.duration_us * 1e-6;
}

}  // namespace

Counters counters_of(const NcuKernel& kernel) {
  Counters out;
  for (const Source& source : kSources) {
    out.*source.field = value_of(kernel, source);
    if (source.field == &Counters::dram_bytes && !out.dram_bytes) {
      out.dram_bytes = dram_bytes_by_rate(kernel, out);  // the duration comes before it
    }
    if (!(out.*source.field).has_value()) out.missing.emplace_back(source.name);
  }
  return out;
}

std::vector<std::string> counter_arguments() {
  std::vector<std::string> out;
  for (const char* section : {"SpeedOfLight", "Occupancy", "LaunchStats", "MemoryWorkloadAnalysis",
                              "ComputeWorkloadAnalysis"}) {
    out.emplace_back("--section");
    out.emplace_back(section);
  }
  out.emplace_back("--metrics");
  // By pattern, as an exact name that a device does not have would be an error.
  out.emplace_back(
      "regex:sm__pipe_tensor(_op_hmma)?_cycles_active\\.avg\\.pct_of_peak_sustained_active,"
      "regex:l1tex__t_bytes_pipe_lsu_mem_local_op_(ld|st)\\.sum$");
  return out;
}

}  // namespace einkorn::profile
