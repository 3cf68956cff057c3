#include "src/measure/bench.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/measure/input_sets.h"
#include "src/measure/peers.h"
#include "src/measure/roofs.h"
#include "src/measure/sampler.h"
#include "src/registry/planned.h"

namespace einkorn::measure {
namespace {

constexpr int kMinRounds = 11;
constexpr int kMaxRounds = 201;

/// One variant with one tiling.
struct Candidate {
  BenchResult result;
  std::unique_ptr<Executable> executable;
  std::unique_ptr<Sampler> sampler;
  std::vector<double> samples;
};

struct PeerTimes {
  PeerResult result;
  std::vector<double> samples;
};

/// One way to copy; the fastest is the yardstick.
struct Copier {
  std::string name;
  std::unique_ptr<Sampler> sampler;
  std::vector<double> samples = {};
};

/// Everything that one case is measured with.
struct Rig {
  const OpEntry& entry;
  const AnyProblem& problem;
  const BenchOptions& options;
  const DeviceInfo& device;
  Work work;
  DevicePeaks peaks;
  std::optional<cuda::OwnedStream> stream = std::nullopt;
  InputSets inputs = {};
  CopySets copies = {};
  std::vector<Copier> copiers = {};
  std::unique_ptr<PeerServer> server = nullptr;
  std::vector<PeerTimes> peers = {};
  std::optional<cuda::ClockSample> clocks_start = std::nullopt;
  std::optional<cuda::ClockSample> clocks_end = std::nullopt;

  const cuda::OwnedStream* stream_or_null() const { return stream ? &*stream : nullptr; }
  void say(const std::string& text) const {
    if (options.progress) options.progress(text);
  }
};

std::vector<const Variant*> pick_variants(const Rig& rig, std::string* failure) {
  const std::string& wanted = rig.options.variant;
  const void* problem = rig.problem.get();
  std::vector<const Variant*> out;
  if (wanted == "all") {
    for (const Variant* variant : rig.entry.variants) {
      if (variant == rig.entry.op->reference_variant) continue;
      if (!refusal_of(*variant, problem, rig.device)) out.push_back(variant);
    }
    if (out.empty()) *failure = "no variant but the reference serves this problem";
    return out;
  }
  const Selection selection = explain(rig.entry, problem, rig.device, wanted);
  if (selection.chosen != nullptr) return {selection.chosen};
  *failure = describe_failure(rig.entry, problem, rig.device, selection);
  return out;
}

BenchResult start_result(const Rig& rig, const std::string& case_name) {
  BenchResult result;
  result.case_name = case_name;
  result.problem = rig.entry.op->print(rig.problem.get());
  return result;
}

/// All candidates, or the one that a call would be given.
std::vector<std::string> tilings_of(const Rig& rig, const Variant& variant) {
  const void* problem = rig.problem.get();
  if (rig.options.all_tilings) return variant.tilings(problem, rig.device);
  return {detail::chosen_tiling(rig.entry, variant, problem, rig.device)};
}

std::vector<Candidate> make_candidates(const Rig& rig, const std::string& case_name) {
  std::string failure;
  std::vector<Candidate> out;
  for (const Variant* variant : pick_variants(rig, &failure)) {
    for (const std::string& tiling : tilings_of(rig, *variant)) {
      Candidate& one = out.emplace_back();
      one.result = start_result(rig, case_name);
      one.result.variant = variant->id();
      try {
        one.result.tiling = tiling;
        one.executable = std::make_unique<Executable>(
            variant->plan(rig.problem.get(), rig.device, one.result.tiling), rig.device);
      } catch (const std::exception& error) {
        one.result.failure = error.what();
      }
    }
  }
  if (out.empty()) {
    Candidate& none = out.emplace_back();
    none.result = start_result(rig, case_name);
    none.result.variant = rig.options.variant;
    none.result.failure = failure;
  }
  return out;
}

void make_samplers(Rig& rig, std::vector<Candidate>& candidates) {
  rig.inputs = make_input_sets(*rig.entry.op, rig.problem, rig.device, rig.options.seed);
  const int sets = static_cast<int>(rig.inputs.sets.size());
  for (Candidate& one : candidates) {
    if (!one.result.failure.empty()) continue;
    rig.say(fmt::format("warming up {} {}", one.result.variant, one.result.tiling));
    try {
      one.sampler = make_sampler(
          rig.options.device, rig.stream_or_null(),
          [&rig, &one](int set, Stream stream) {
            one.executable->run(rig.inputs.sets[static_cast<std::size_t>(set)].args.get(), stream);
          },
          sets);
    } catch (const std::exception& error) {
      one.result.failure = error.what();
    }
  }
}

void make_copiers(Rig& rig) {
  // Half of the bytes are read, half of them written.
  rig.copies = make_copy_sets(static_cast<std::int64_t>(rig.work.min_bytes / 2), rig.device,
                              rig.options.seed);
  const int sets = static_cast<int>(rig.copies.from.size());
  const auto add = [&](std::string name, Body body) {
    rig.copiers.push_back({std::move(name), make_sampler(rig.options.device, rig.stream_or_null(),
                                                         std::move(body), sets)});
  };
  add("memcpy", [&rig](int set, Stream stream) { copy_set(rig.copies, set, stream); });
  if (rig.options.device.kind == DeviceKind::kCuda && rig.copies.bytes >= 16) {
    add("kernel", [&rig, copy = CopyKernel(rig.device)](int set, Stream stream) {
      copy(rig.copies, set, stream);
    });
  }
}

void start_peers(Rig& rig) {
  if (!rig.options.peers) return;
  rig.say("starting peers");
  std::vector<PeerResult> found;
  try {
    rig.server = std::make_unique<PeerServer>(PeerServer::default_command());
    found = rig.server->setup({*rig.entry.op, rig.problem, rig.options.device, rig.options.seed,
                               static_cast<int>(rig.inputs.sets.size())});
  } catch (const std::exception& error) {
    found.push_back({"peers", "", {}, error.what()});
  }
  for (PeerResult& peer : found) {
    if (!peer.skipped.empty()) rig.say(fmt::format("{}: skipped: {}", peer.name, peer.skipped));
    rig.peers.push_back({std::move(peer), {}});
  }
}

int round_count(const Rig& rig, const std::vector<Candidate>& candidates) {
  double longest = 0;
  for (const Copier& one : rig.copiers) longest = std::max(longest, one.sampler->seconds());
  for (const Candidate& one : candidates) {
    if (one.sampler) longest = std::max(longest, one.sampler->seconds());
  }
  const double rounds = rig.options.seconds / std::max(longest, 1e-6);
  return static_cast<int>(
      std::clamp(rounds, static_cast<double>(kMinRounds), static_cast<double>(kMaxRounds)));
}

void sample_peer(Rig& rig, PeerTimes& peer) {
  if (!peer.result.skipped.empty()) return;
  try {
    peer.samples.push_back(rig.server->time_us(peer.result.name));
  } catch (const std::exception& error) {
    peer.result.skipped = error.what();
    peer.samples.clear();
  }
}

std::optional<cuda::ClockSample> sample_clocks(Device device) {
  if (device.kind != DeviceKind::kCuda) return std::nullopt;
  return cuda::sample_clocks(device.index);
}

/// ", best 12.31 µs rms_norm/sm90/bulk_v1"; empty before the first round.
std::string best_so_far(const std::vector<Candidate>& candidates) {
  const Candidate* best = nullptr;
  double least = 0;
  for (const Candidate& one : candidates) {
    if (one.samples.empty()) continue;
    const double median = summarize(one.samples).median_us;
    if (best == nullptr || median < least) {
      best = &one;
      least = median;
    }
  }
  return best == nullptr ? "" : fmt::format(", best {:.2f} µs {}", least, best->result.variant);
}

void measure_rounds(Rig& rig, std::vector<Candidate>& candidates) {
  const int rounds = round_count(rig, candidates);
  for (int round = 0; round < rounds; ++round) {
    if (round > 0 && rig.options.stop && rig.options.stop()) return;
    if (rig.options.round) rig.options.round(round, rounds);
    rig.say(fmt::format("round {} of {}{}", round + 1, rounds, best_so_far(candidates)));
    for (Copier& one : rig.copiers) one.samples.push_back(one.sampler->sample());
    for (Candidate& one : candidates) {
      if (!one.sampler || !one.result.failure.empty()) continue;
      try {
        one.samples.push_back(one.sampler->sample());
      } catch (const std::exception& error) {
        one.result.failure = error.what();
      }
    }
    // Before the peers, and after a round: the device is then as busy as the samples make it.
    rig.clocks_end = sample_clocks(rig.options.device);
    if (round == 0) rig.clocks_start = rig.clocks_end;
    for (PeerTimes& peer : rig.peers) sample_peer(rig, peer);
  }
}

Clocks clocks_of(const Rig& rig) {
  if (!rig.clocks_start || !rig.clocks_end) return {};
  // NVML's lowest bit says that the device was idle when it was asked, which is no throttling.
  constexpr std::uint64_t kIdle = 1;
  const std::uint64_t reasons =
      (rig.clocks_start->throttle_reasons | rig.clocks_end->throttle_reasons) & ~kIdle;
  return {rig.clocks_start->sm_mhz, rig.clocks_end->sm_mhz, rig.clocks_end->memory_mhz,
          reasons == 0 ? "" : cuda::describe_throttle(reasons)};
}

/// Rates and roofs from the times.
void finish(const Rig& rig, Candidate& one) {
  BenchResult& result = one.result;
  for (const Copier& copier : rig.copiers) {
    const Timing timing = summarize(copier.samples);
    if (result.copy.samples > 0 && timing.median_us >= result.copy.median_us) continue;
    result.copy = timing;
    result.copied_by = copier.name;
  }
  result.input_sets = static_cast<int>(rig.inputs.sets.size());
  for (const PeerTimes& peer : rig.peers) {
    result.peers.push_back(peer.result);
    result.peers.back().timing = summarize(peer.samples);
  }
  if (!result.failure.empty()) return;
  result.timing = summarize(one.samples);
  if (result.timing.median_us <= 0) {
    result.failure = "no time could be measured";
    return;
  }
  const Prediction predicted = predict(one.executable->plan(), rig.device, rig.work, rig.peaks);
  hold_against_roofs(rig.work, predicted, rig.peaks, result);
}

/// Sets up and measures; what stops all of it (memory that is not to be had, a lost device) becomes
/// the failure of each candidate.
void measure_all(Rig& rig, std::vector<Candidate>& candidates) {
  try {
    if (rig.options.device.kind == DeviceKind::kCuda) rig.stream.emplace(rig.options.device.index);
    make_samplers(rig, candidates);
    make_copiers(rig);
    start_peers(rig);
    measure_rounds(rig, candidates);
  } catch (const std::exception& error) {
    for (Candidate& one : candidates) {
      if (one.result.failure.empty()) one.result.failure = error.what();
    }
  }
  for (Candidate& one : candidates) {
    one.result.clocks = clocks_of(rig);
    finish(rig, one);
  }
}

}  // namespace

std::vector<BenchResult> bench(const OpEntry& entry, const AnyProblem& problem,
                               const std::string& case_name, const BenchOptions& options) {
  Rig rig{entry,
          problem,
          options,
          device_info(options.device),
          entry.op->work(problem.get()),
          peaks_of(device_info(options.device))};
  std::vector<Candidate> candidates = make_candidates(rig, case_name);
  const bool runs = std::ranges::any_of(
      candidates, [](const Candidate& one) { return one.result.failure.empty(); });
  if (runs && rig.work.min_bytes < 2) {
    for (Candidate& one : candidates) one.result.failure = "an empty problem takes no time";
  } else if (runs) {
    measure_all(rig, candidates);
  }
  std::vector<BenchResult> results;
  results.reserve(candidates.size());
  for (Candidate& one : candidates) results.push_back(std::move(one.result));
  return results;
}

}  // namespace einkorn::measure
