#pragma once

// A lab whose candidates take the time that a test says, and fail as it says.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <einkorn/error.h>
#include <einkorn/op.h>
#include <fmt/format.h>

#include "src/tune/lab.h"

namespace einkorn::tune {

class FakeLab final : public Lab {
 public:
  struct Fate {
    double us = 10;
    trials::Status status = trials::Status::kOk;  ///< what prepare says, or how the lab falls
    int samples_before = 0;  ///< a crash or hang comes after so many samples, not in prepare
  };
  std::function<Fate(std::string_view tiling)> fate = [](std::string_view) { return Fate{}; };
  bool fails_to_restart = false;
  double spread = 0.002;

  int starts = 0;
  int samples = 0;
  std::vector<std::string> prepared;  ///< tilings that were checked, in order
  std::vector<std::string> rebuilt;   ///< without a check

  Started start(const Subject& subject) override {
    ++starts;
    subject_ = subject;
    living_.clear();
    if (fails_to_restart && starts > 1) throw LabLost(false, "no CUDA-capable device is detected");
    return {.seconds = 0.001, .input_sets = 2};
  }

  Prepared prepare(std::size_t id, std::string_view tiling, bool check) override {
    (check ? prepared : rebuilt).emplace_back(tiling);
    const Fate what = fate(tiling);
    if (what.samples_before == 0) fall(what.status);
    Prepared out;
    out.sample_seconds = 0.001;
    out.seconds = 0.001;
    out.compiler = compiler;
    if (what.samples_before == 0 && what.status != trials::Status::kOk) {
      out.status = what.status;
      out.reason = "says the test";
      return out;
    }
    living_[id] = {std::string(tiling), 0};
    return out;
  }

  Samples sample(std::size_t id, int count) override {
    const auto found = living_.find(id);
    EK_ICHECK(found != living_.end(), fmt::format("{} is not in the lab", id));
    const Fate what = fate(found->second.first);
    Samples out;
    for (int i = 0; i < count; ++i) {
      ++samples;
      if (what.samples_before > 0 && ++found->second.second > what.samples_before) {
        fall(what.status);
      }
      out.us.push_back(what.us * (1 + spread * (2 * random_.uniform() - 1)));
    }
    return out;
  }

  void drop(std::size_t id) override { living_.erase(id); }

  std::size_t living() const { return living_.size(); }
  const Subject& subject() const { return subject_; }
  std::string compiler;

 private:
  void fall(trials::Status status) {
    if (status != trials::Status::kCrash && status != trials::Status::kHang) return;
    living_.clear();
    throw LabLost(status == trials::Status::kHang, "fell");
  }

  Subject subject_;
  std::map<std::size_t, std::pair<std::string, int>> living_;
  Rng random_{17};
};

}  // namespace einkorn::tune
