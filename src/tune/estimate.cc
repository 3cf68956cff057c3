#include "src/tune/estimate.h"

#include <algorithm>
#include <cmath>

#include "src/tune/race.h"

namespace einkorn::tune {
namespace {

// Of a plain loop in double on one core of a server of 2023, inputs and comparisons included;
// measured with rms_norm and silu_mul in bf16 (f32 takes a third).
constexpr double kReferencePerByte = 4e-9;
constexpr double kCheckPerByte = 6e-9;
constexpr double kTransferPerByte = 1e-9;  // to a GPU and back, from memory that is not pinned
constexpr double kCopyPerByte = 0.5e-9;    // one input set
constexpr double kCudaStart = 0.3;         // a process with a context
constexpr double kProcessStart = 0.05;
constexpr double kCompile = 0.2;  // NVRTC, a plan of one or two kernels of ours
// A sample's length is settled on (sampler.h); on a GPU it is run once or twice.
constexpr double kSample = 4e-3;
constexpr double kGpuBandwidth = 2e12;
constexpr double kCpuBandwidth = 10e9;
/// Samples that warming up and settling the length are worth.
constexpr double kWarmUp = 4;

}  // namespace

Costs guess(Costs costs) {
  if (costs.call_seconds <= 0) {
    costs.call_seconds = costs.bytes / (costs.gpu ? kGpuBandwidth : kCpuBandwidth);
  }
  if (costs.sample_seconds <= 0) {
    // On a GPU every input set takes part in each sample.
    const double calls = costs.gpu ? costs.input_sets : 1;
    costs.sample_seconds = std::max(kSample, calls * costs.call_seconds) * (costs.gpu ? 1.5 : 1);
  }
  if (costs.setup_seconds <= 0) {
    costs.setup_seconds = (costs.gpu ? kCudaStart : kProcessStart) +
                          costs.bytes * (kReferencePerByte + kCopyPerByte * costs.input_sets);
  }
  if (costs.prepare_seconds <= 0) {
    costs.prepare_seconds = costs.bytes * (kCheckPerByte + (costs.gpu ? kTransferPerByte : 0)) +
                            (costs.gpu ? kCompile : 0) + kWarmUp * costs.sample_seconds;
  }
  return costs;
}

Estimate estimate(const Costs& costs, std::size_t trials, std::size_t batch) {
  const Costs all = guess(costs);
  const RaceOptions race;
  Estimate out;
  out.trials = trials;
  if (trials == 0) return out;
  const auto count = static_cast<double>(trials);
  const double races = std::ceil(count / static_cast<double>(std::max<std::size_t>(batch, 1)));
  // Each has a first round. How many go on is not known: none where one is far ahead, all where
  // they are tied; half of what two would take to the end is within twice of most.
  const double samples = count * race.first + races * (race.last - race.first);
  out.setup_seconds = all.setup_seconds;
  out.prepare_seconds = count * all.prepare_seconds;
  out.sample_seconds = samples * all.sample_seconds;
  return out;
}

}  // namespace einkorn::tune
