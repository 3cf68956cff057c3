#include "cli/profile_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/table.h"

namespace einkorn::cli {
namespace {

using profile::Counters;
using profile::Span;

std::string microseconds(double us) {
  if (us < 100) return fmt::format("{:.2f}", us);
  return us < 10000 ? fmt::format("{:.1f}", us) : fmt::format("{:.0f}", us);
}

std::string or_empty(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : std::string();
}

std::string predicted_text(const std::optional<double>& us) {
  return us ? microseconds(*us) : std::string();
}

std::string rate_text(double value) {
  if (value <= 0) return {};
  return value < 10 ? fmt::format("{:.2f}", value) : fmt::format("{:.1f}", value);
}

constexpr int kBarColumns = 50;

/// A kernel's time as a bar on the time of the whole run.
std::string bar(const Span& span, double whole_us) {
  const double scale = kBarColumns / std::max(whole_us, 1e-9);
  const int begin = std::min(static_cast<int>(span.start_us * scale), kBarColumns - 1);
  const int end =
      std::clamp(static_cast<int>(std::lround(span.end_us() * scale)), begin + 1, kBarColumns);
  std::string out = "|" + std::string(static_cast<std::size_t>(begin), ' ');
  for (int i = begin; i < end; ++i) out += "█";
  return out + std::string(static_cast<std::size_t>(kBarColumns - end), ' ') + "|";
}

std::string gaps_text(const profile::Timeline& timeline) {
  std::vector<profile::Gap> gaps = timeline.gaps;
  if (gaps.empty()) return "no gap: some kernel ran all the time\n";
  std::ranges::stable_sort(gaps, std::greater<>(), &profile::Gap::us);
  constexpr std::size_t kShown = 8;
  double total = 0;
  for (const profile::Gap& gap : gaps) total += gap.us;
  std::string out =
      fmt::format("{} gap{}, {} µs together{}\n", gaps.size(), gaps.size() == 1 ? "" : "s",
                  microseconds(total), gaps.size() > kShown ? "; the longest" : "");
  gaps.resize(std::min(gaps.size(), kShown));
  for (const profile::Gap& gap : gaps) {
    out += fmt::format("  {} µs between {} and {}\n", microseconds(gap.us), gap.before, gap.after);
  }
  return out;
}

}  // namespace

std::string event_text(const profile::EventProfile& profile) {
  Table table({"stage", ">median µs", ">q1-q3", ">of total", ">predicted µs", ">GB/s", ">TFLOP/s"});
  const auto quartiles = [](const measure::Timing& timing) {
    return fmt::format("{}-{}", microseconds(timing.q1_us), microseconds(timing.q3_us));
  };
  double sum = 0;
  for (const profile::StageTime& stage : profile.stages) {
    sum += stage.timing.median_us;
    table.add({stage.name, microseconds(stage.timing.median_us), quartiles(stage.timing),
               fmt::format("{:.1f} %", 100 * stage.share), predicted_text(stage.predicted_us),
               rate_text(stage.gbps), rate_text(stage.tflops)});
  }
  if (profile.stages.size() > 1) {
    table.add({"sum of the stages, each alone", microseconds(sum), "",
               fmt::format("{:.1f} %", 100 * sum / profile.total.median_us)});
    table.add({"the whole plan", microseconds(profile.total.median_us), quartiles(profile.total),
               "100.0 %", predicted_text(profile.predicted_us)});
  }
  std::string out = table.text();
  for (const profile::ConcurrentTime& one : profile.concurrent) {
    out += fmt::format(
        "\n{}: branches alone {} µs, side by side {} µs: gain {:.2f}x; the longest branch {} µs\n",
        one.name, microseconds(one.sum_us), microseconds(one.joint.median_us), one.gain,
        microseconds(one.longest_us));
  }
  return out + fmt::format("\n{} samples each, over {} sets of inputs\n", profile.total.samples,
                           profile.input_sets);
}

std::string counters_text(const std::vector<profile::KernelCounters>& kernels) {
  Table table({"stage", ">µs", ">DRAM %", ">tensor %", ">SM %", ">occupancy %", ">L2 hit %",
               ">local bytes", ">waves", ">registers", "bound"});
  std::string rules;
  for (const profile::KernelCounters& one : kernels) {
    const Counters& c = one.counters;
    const std::string& name = one.stage.empty() ? one.kernel : one.stage;
    std::optional<double> local;
    if (c.local_load_bytes && c.local_store_bytes) {
      local = *c.local_load_bytes + *c.local_store_bytes;
    }
    table.add({name, or_empty(c.duration_us, 2), or_empty(c.dram_percent, 1),
               or_empty(c.tensor_percent, 1), or_empty(c.compute_percent, 1),
               or_empty(c.occupancy_percent, 1), or_empty(c.l2_hit_percent, 1), or_empty(local, 0),
               or_empty(c.waves, 2), or_empty(c.registers, 0), one.verdict.bound});
    rules += fmt::format("\n{}: {}: {}\n", name, one.verdict.bound, one.verdict.rule);
    for (const std::string& note : one.verdict.notes) rules += fmt::format("  {}\n", note);
    if (!c.missing.empty()) {
      rules += fmt::format("  not reported by ncu: {}\n", fmt::join(c.missing, ", "));
    }
  }
  return table.text() + rules;
}

std::string timeline_text(const profile::Timeline& timeline) {
  Table table({"stage", ">stream", ">start µs", ">µs", "time"});
  for (const Span& span : timeline.kernels) {
    if (span.duration_us <= 0) continue;
    table.add({span.name, std::to_string(span.stream), microseconds(span.start_us),
               microseconds(span.duration_us), bar(span, timeline.span_us)});
  }
  std::string out = table.text();
  out += fmt::format(
      "\nin the order of the launches; the run of median length of {}\n"
      "{} µs from the first start to the last end, a kernel ran in {} µs of it, "
      "two or more in {} µs\n",
      timeline.runs, microseconds(timeline.span_us), microseconds(timeline.busy_us),
      microseconds(timeline.overlap_us));
  for (const profile::BranchOverlap& one : timeline.concurrent) {
    out += fmt::format("{}: {} µs of kernels in {} µs, branches side by side for {} µs\n", one.name,
                       microseconds(one.sum_us), microseconds(one.span_us),
                       microseconds(one.overlap_us));
  }
  return out + gaps_text(timeline);
}

}  // namespace einkorn::cli
