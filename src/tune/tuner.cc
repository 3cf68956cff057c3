#include "src/tune/tuner.h"

#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/measure/input_sets.h"
#include "src/tune/session.h"

namespace einkorn::tune {

std::vector<Candidate> candidates_of(const Variant& variant, const void* problem,
                                     const DeviceInfo& device,
                                     std::span<const double> predicted_us) {
  std::vector<Candidate> out;
  for (std::string& tiling : variant.tilings(problem, device)) {
    out.push_back({std::move(tiling), 0});
  }
  if (predicted_us.size() == out.size()) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i].predicted_us = predicted_us[i];
  }
  return out;
}

Estimate estimate_of(const Job& job, Strategy strategy, std::size_t trials) {
  const Work work = job.entry.op->work(job.problem.get());
  Costs costs{.bytes = work.min_bytes, .gpu = job.device.device.kind == DeviceKind::kCuda};
  costs.input_sets = measure::set_count(static_cast<std::int64_t>(work.min_bytes), job.device);
  if (!job.candidates.empty()) costs.call_seconds = job.candidates[0].predicted_us * 1e-6;
  return estimate(costs, trials, batch_of(strategy, trials));
}

Outcome tune(const Job& job, const Options& options, Lab& lab, trials::TrialStore& store) {
  const std::string id = job.variant.id();
  if (const auto refusal = refusal_of(job.variant, job.problem.get(), job.device)) {
    throw_error(ErrorKind::kNotImplemented,
                fmt::format("tune: {} refuses the problem: {}", id, refusal->reason));
  }
  EK_CHECK(job.entry.op->work(job.problem.get()).min_bytes >= 2, ErrorKind::kNotImplemented,
           fmt::format("tune: {}: an empty problem takes no time", id));
  try {
    return Session(job, options, lab, store).run();
  } catch (const LabLost& lost) {
    throw_error(ErrorKind::kRuntime,
                fmt::format("tune: {}: the worker could not start: {}", id, lost.what()));
  }
}

}  // namespace einkorn::tune
