#include "src/tune/session.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/registry/planned.h"
#include "src/tune/built.h"

namespace einkorn::tune {
namespace {

// Between races only the better ones matter; the last race decides.
constexpr RaceOptions kEarly{.first = 5, .last = 10, .most = 10};
constexpr RaceOptions kFull{};
/// Candidates that meet in the last race at most.
constexpr std::size_t kTies = 12;

/// Empty where the heuristic's choice does not compile: no trial of before is then comparable.
std::string compiler_for(const Job& job) {
  try {
    return compiler_of(job.variant.plan(job.problem.get(), job.device, {}), job.device);
  } catch (const Error&) {
    return {};
  }
}

trials::Place place_of(const Job& job) {
  const bool gpu = job.device.device.kind == DeviceKind::kCuda;
  return {.device = job.device.name,
          .cc = job.device.cc,
          .sm_count = job.device.sm_count,
          .driver = gpu ? cuda::driver_version() : std::string(),
          .compiler = compiler_for(job)};
}

}  // namespace

Session::Session(const Job& job, const Options& options, Lab& lab, trials::TrialStore& store)
    : job_(job),
      options_(options),
      lab_(lab),
      store_(store),
      query_(detail::tuning_query(job.entry, job.variant, job.problem.get(), job.device)),
      place_(place_of(job)),
      subject_{query_.op, query_.variant, query_.problem, to_string(job.device.device),
               options.seed},
      search_(make_search(options.strategy, job.candidates, options.seed)),
      start_(std::chrono::steady_clock::now()) {
  outcome_.candidates = job.candidates;
}

/// Takes over what the store has of these candidates.
void Session::reuse() {
  if (options_.fresh) return;
  std::map<std::size_t, const trials::Trial*> last;
  const trials::Reading reading = store_.read(query_.op, query_.device);
  for (const trials::Trial& trial : reading.trials) {
    const bool same = trial.variant == query_.variant && trial.problem == query_.problem &&
                      trial.source == query_.source && trial.mode == query_.mode &&
                      trial.l2 == query_.l2 && trial.place == place_;
    const auto index = same ? index_of(trial.tiling) : std::nullopt;
    if (!index) continue;
    if (trials::is_disqualifying(trial.status)) disqualified_.insert(*index);
    last[*index] = &trial;
  }
  for (const auto& [index, trial] : last) {
    const bool is_out = disqualified_.contains(index);
    if (!is_out && trial->status != trials::Status::kOk) continue;  // may pass: try again
    outcome_.known.push_back({*trial, true});
    search_->tell(index, is_out ? std::nullopt : std::optional(trial->median_us));
  }
  note_best();
}

void Session::start_lab() {
  const auto before = std::chrono::steady_clock::now();
  const Started started = lab_.start(subject_);
  is_started_ = true;
  costs_.setup_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  costs_.input_sets = started.input_sets;
}

/// Once more after a pause; a device that is gone for good ends the tuning.
bool Session::restart_lab() {
  ready_.clear();
  std::string reason;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(options_.pause);
    try {
      lab_.start(subject_);
      return true;
    } catch (const std::exception& error) {
      reason = error.what();
    }
  }
  is_lost_ = true;
  stopped_ = fmt::format("device lost: {}", reason);
  return false;
}

std::size_t Session::remaining() const { return planned_ > tried_ ? planned_ - tried_ : 0; }

bool Session::is_interrupted(std::string doing) {
  if (options_.progress && !options_.progress(standing(std::move(doing)))) {
    stopped_ = "interrupted";
  }
  return stopped_ == "interrupted";
}

/// Whether budget and user allow another step.
bool Session::may_go_on(std::string doing) {
  if (!stopped_.empty() || is_interrupted(std::move(doing))) return false;
  if (elapsed() > options_.seconds) stopped_ = "budget";
  return stopped_.empty();
}

void Session::race(const std::vector<std::size_t>& runners, const RaceOptions& options) {
  Race race(options);
  for (const std::size_t index : runners) {
    if (!ensure(index)) continue;
    race.add(index, job_.candidates[index].tiling, facts_.at(index).resources);
  }
  while (const auto step = race.next()) {
    // What was built gets its first round even when that overdraws the budget: otherwise it was
    // built for nothing.
    const bool owed = race.samples_of(step->id) < options.first && !is_lost_;
    if (!may_go_on(fmt::format("race of {}", runners.size())) && !(owed && stopped_ == "budget")) {
      race.stop();
      break;
    }
    sample(race, *step);
  }
  record_race(race);
}

/// Builds and checks the batch, then lets it race against the best so far.
void Session::run_batch(const std::vector<std::size_t>& batch, const RaceOptions& options) {
  std::vector<std::size_t> runners;
  const auto best = champion();
  for (const std::size_t index : batch) {
    if (!may_go_on("compiling " + job_.candidates[index].tiling)) break;
    ++tried_;
    if (prepare(index, true)) runners.push_back(index);
  }
  if (runners.empty()) return;
  if (best && std::ranges::find(runners, *best) == runners.end()) runners.push_back(*best);
  race(runners, options);
  const auto now = champion();
  for (const std::size_t index : runners) {
    if (index != now) drop(index);
  }
}

/// Those that the races left within reach of a tie, by full samples side by side.
void Session::run_ties() {
  const auto list = measured();
  const auto best = std::ranges::min_element(list, {}, &trials::Standing::median_us);
  if (best == list.end()) return;
  std::vector<std::pair<double, std::size_t>> tied;
  for (const trials::Standing& one : list) {
    const auto index = index_of(one.tiling);
    const bool near = one.median_us <= best->median_us * (1 + kUndecided);
    if (index && (near || trials::is_tied(one, *best))) tied.emplace_back(one.median_us, *index);
  }
  if (tied.size() < 2) return;
  std::ranges::sort(tied);
  tied.resize(std::min(tied.size(), kTies));
  std::vector<std::size_t> runners;
  runners.reserve(tied.size());
  for (const auto& [us, index] : tied) runners.push_back(index);
  std::ranges::sort(runners);
  race(runners, kFull);
}

Outcome Session::run() {
  reuse();
  const std::size_t left = job_.candidates.size() - outcome_.known.size();
  planned_ = std::min(
      left, options_.trials.value_or(default_trials(options_.strategy, job_.candidates.size())));
  outcome_.planned = planned_;
  outcome_.estimate = estimate_of(job_, options_.strategy, planned_);
  const std::size_t batch = batch_of(options_.strategy, planned_);
  const bool in_one = planned_ <= batch;
  while (remaining() > 0 && stopped_.empty()) {
    const auto proposed = search_->propose(std::min(batch, remaining()));
    if (proposed.empty()) break;
    if (!is_started_) {
      if (!may_go_on("making inputs and the reference's results")) break;
      start_lab();
    }
    run_batch(proposed, in_one ? kFull : kEarly);
  }
  if (!in_one && stopped_.empty()) run_ties();
  finish();
  return std::move(outcome_);
}

}  // namespace einkorn::tune
