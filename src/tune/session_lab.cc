// What the lab does for a session, and what candidates do to the lab.

#include <utility>

#include <einkorn/error.h>

#include "src/tune/session.h"

namespace einkorn::tune {

/// The lab fell while it worked on this candidate, which is out for good.
void Session::lose_lab(std::size_t index, const LabLost& lost) {
  ready_.clear();
  // After a failed restart there is no lab that could have fallen; after a Ctrl-C the whole process
  // group may be ending, and nobody is to blame.
  if (is_interrupted("restarting after a failure") || is_lost_) return;
  record_failure(index, lost.is_hang() ? trials::Status::kHang : trials::Status::kCrash,
                 lost.what());
  restart_lab();
}

bool Session::prepare(std::size_t index, bool check) {
  const Candidate& one = job_.candidates[index];
  try {
    Prepared prepared = lab_.prepare(index, one.tiling, check);
    if (prepared.status != trials::Status::kOk) {
      record_failure(index, prepared.status, prepared.reason);
      return false;
    }
    if (check) {
      // Running means, for the estimate.
      const auto count = static_cast<double>(facts_.size());
      costs_.prepare_seconds = (costs_.prepare_seconds * count + prepared.seconds) / (count + 1);
      costs_.sample_seconds =
          (costs_.sample_seconds * count + prepared.sample_seconds) / (count + 1);
    }
    facts_[index] = prepared;
    ready_[index] = {std::move(prepared), {}};
    return true;
  } catch (const LabLost& lost) {
    lose_lab(index, lost);
  } catch (const Error& error) {
    record_failure(index, trials::Status::kError, error.what());
  }
  return false;
}

/// In the lab, also after a restart; it was checked before, if only by an earlier run.
bool Session::ensure(std::size_t index) {
  if (ready_.contains(index)) return true;
  if (!is_started_) start_lab();
  return prepare(index, !facts_.contains(index));
}

void Session::sample(Race& race, const Race::Step& step) {
  if (!ensure(step.id)) {
    race.fail(step.id);
    return;
  }
  try {
    Samples samples = lab_.sample(step.id, step.samples);
    race.accept(step.id, samples.us);
    ready_[step.id].last = std::move(samples);
  } catch (const LabLost& lost) {
    race.fail(step.id);
    lose_lab(step.id, lost);
  } catch (const Error& error) {
    race.fail(step.id);
    record_failure(step.id, trials::Status::kError, error.what());
  }
}

void Session::drop(std::size_t index) {
  if (ready_.erase(index) == 0) return;
  try {
    lab_.drop(index);
  } catch (const std::exception&) {
    // A lab that fell while it freed something shows it at the next candidate, which is then
    // prepared in a new one.
    restart_lab();
  }
}

}  // namespace einkorn::tune
