// What a session keeps: trials, and what follows from them.

#include <algorithm>
#include <utility>

#include <einkorn/version.h>

#include "src/core/utc_time.h"
#include "src/tune/session.h"

namespace einkorn::tune {

double Session::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::optional<std::size_t> Session::index_of(std::string_view tiling) const {
  const auto found = std::ranges::find(job_.candidates, tiling, &Candidate::tiling);
  if (found == job_.candidates.end()) return std::nullopt;
  return static_cast<std::size_t>(found - job_.candidates.begin());
}

trials::Trial Session::blank(std::size_t index) const {
  trials::Trial out;
  out.op = query_.op;
  out.variant = query_.variant;
  out.problem = query_.problem;
  out.tiling = job_.candidates[index].tiling;
  out.place = place_;
  out.source = query_.source;
  out.mode = query_.mode;
  out.l2 = query_.l2;
  out.predicted_us = job_.candidates[index].predicted_us;
  out.date = utc_now();
  out.version = version();
  out.commit = git_commit();
  if (const auto facts = facts_.find(index); facts != facts_.end()) {
    out.resources = facts->second.resources;
    if (!facts->second.compiler.empty()) out.place.compiler = facts->second.compiler;
  }
  return out;
}

void Session::record(trials::Trial trial, std::size_t index) {
  store_.add(trial);
  const bool is_ok = trial.status == trials::Status::kOk;
  if (trials::is_disqualifying(trial.status)) disqualified_.insert(index);
  const bool is_out = disqualified_.contains(index);
  search_->tell(index, is_ok && !is_out ? std::optional(trial.median_us) : std::nullopt);
  // The last word on a tiling replaces those before; the store keeps them all.
  std::erase_if(outcome_.known, [&](const Known& one) { return one.trial.tiling == trial.tiling; });
  outcome_.known.push_back({std::move(trial), false});
}

void Session::record_failure(std::size_t index, trials::Status status, const std::string& reason) {
  trials::Trial trial = blank(index);
  trial.status = status;
  trial.reason = reason;
  ready_.erase(index);
  record(std::move(trial), index);
}

void Session::record_race(const Race& race) {
  for (const Race::Result& one : race.results()) {
    trials::Trial trial = blank(one.id);
    trial.median_us = one.standing.median_us;
    trial.q1_us = one.standing.q1_us;
    trial.q3_us = one.standing.q3_us;
    trial.samples = one.samples;
    if (const auto ready = ready_.find(one.id); ready != ready_.end()) {
      trial.sm_mhz = ready->second.last.sm_mhz;
      trial.throttle = ready->second.last.throttle;
    }
    record(std::move(trial), one.id);
  }
  note_best();
}

void Session::note_best() {
  const auto list = measured();
  if (const auto winner = trials::pick_winner(list)) {
    best_tiling_ = list[*winner].tiling;
    best_us_ = list[*winner].median_us;
  }
}

std::vector<trials::Standing> Session::measured() const {
  std::vector<trials::Trial> list;
  for (const Known& one : outcome_.known) {
    const auto index = index_of(one.trial.tiling);
    if (index && !disqualified_.contains(*index)) list.push_back(one.trial);
  }
  return trials::standings(list, query_, query_.problem);
}

std::optional<std::size_t> Session::champion() const {
  const auto list = measured();
  const auto winner = trials::pick_winner(list);
  return winner ? index_of(list[*winner].tiling) : std::nullopt;
}

void Session::finish() {
  const auto trial_of = [&](std::size_t index) -> std::optional<trials::Trial> {
    for (const Known& one : outcome_.known) {
      const bool is_ok = one.trial.status == trials::Status::kOk;
      if (is_ok && one.trial.tiling == job_.candidates[index].tiling) return one.trial;
    }
    return std::nullopt;
  };
  note_best();
  if (const auto best = champion()) {
    outcome_.best_trial = trial_of(*best);
    outcome_.best = {.quality = trials::Quality::kExact,
                     .tiling = job_.candidates[*best].tiling,
                     .problem = query_.problem,
                     .device = query_.device,
                     .distance = 0,
                     .origin = "trials",
                     .us = best_us_};
  }
  if (!job_.candidates.empty() && !disqualified_.contains(0)) {
    outcome_.default_trial = trial_of(0);
  }
  outcome_.tried = tried_;
  outcome_.stopped = stopped_;
  outcome_.seconds = elapsed();
}

Standing Session::standing(std::string doing) const {
  Standing out;
  out.doing = std::move(doing);
  out.tried = tried_;
  out.planned = planned_;
  out.seconds = elapsed();
  // Before anything was measured the guess, then what measuring it showed.
  const std::size_t batch = batch_of(options_.strategy, planned_);
  out.estimate =
      facts_.empty() ? outcome_.estimate.total() : estimate(costs_, planned_, batch).total();
  out.best_tiling = best_tiling_;
  out.best_us = best_us_;
  return out;
}

}  // namespace einkorn::tune
