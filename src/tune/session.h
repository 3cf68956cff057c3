#pragma once

// One tuning while it runs; tuner.h says what it does.

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/tune/race.h"
#include "src/tune/tuner.h"

namespace einkorn::tune {

class Session {
 public:
  Session(const Job& job, const Options& options, Lab& lab, trials::TrialStore& store);

  Outcome run();

 private:
  /// What the lab said of a candidate that it prepared.
  struct Ready {
    Prepared prepared;
    Samples last;  ///< for clock and throttling
  };

  // session.cc: the course of it.
  void reuse();
  void start_lab();
  bool restart_lab();
  void run_batch(const std::vector<std::size_t>& batch, const RaceOptions& options);
  void run_ties();
  void race(const std::vector<std::size_t>& runners, const RaceOptions& options);
  std::size_t remaining() const;
  bool is_interrupted(std::string doing);
  bool may_go_on(std::string doing);

  // session_lab.cc: work of the lab, and what it may do to us.
  bool prepare(std::size_t index, bool check);
  bool ensure(std::size_t index);
  void sample(Race& race, const Race::Step& step);
  void lose_lab(std::size_t index, const LabLost& lost);
  void drop(std::size_t index);

  // session_record.cc: what is kept.
  trials::Trial blank(std::size_t index) const;
  void record(trials::Trial trial, std::size_t index);
  void record_failure(std::size_t index, trials::Status status, const std::string& reason);
  void record_race(const Race& race);
  std::vector<trials::Standing> measured() const;
  std::optional<std::size_t> champion() const;
  std::optional<std::size_t> index_of(std::string_view tiling) const;
  void note_best();
  void finish();
  Standing standing(std::string doing) const;
  double elapsed() const;

  const Job& job_;
  const Options& options_;
  Lab& lab_;
  trials::TrialStore& store_;
  trials::Query query_;
  trials::Place place_;
  Subject subject_;
  std::unique_ptr<Search> search_;
  std::chrono::steady_clock::time_point start_;
  bool is_started_ = false;
  bool is_lost_ = false;                   ///< the lab, for good
  std::map<std::size_t, Ready> ready_;     ///< in the lab now
  std::map<std::size_t, Prepared> facts_;  ///< of all that were ever prepared
  std::set<std::size_t> disqualified_;
  std::size_t tried_ = 0;
  std::size_t planned_ = 0;
  Costs costs_;
  std::string stopped_;
  std::string best_tiling_;  ///< so far, for the line of progress
  double best_us_ = 0;
  Outcome outcome_;
};

/// Candidates that race against each other at a time: each keeps a graph and its own flush buffer
/// on the device.
inline constexpr std::size_t kBatch = 16;
/// With the model, whose guesses are better for each one that it knows: of five in two batches only
/// two would be chosen by what was measured. What it costs is that the best so far races with each:
/// samples, where building and checking a candidate take most of the time.
inline constexpr std::size_t kModelBatch = 1;

/// Of those two the one that `planned` candidates race in.
inline std::size_t batch_of(Strategy strategy, std::size_t planned) {
  return strategy == Strategy::kModel && planned > kModelBatch ? kModelBatch : kBatch;
}

}  // namespace einkorn::tune
