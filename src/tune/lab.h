#pragma once

// Where candidates are built, checked and timed; usually a process of its own.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "src/trials/trial.h"

namespace einkorn::tune {

/// What is tuned.
struct Subject {
  std::string op;
  std::string variant;  ///< id
  std::string problem;  ///< printed
  std::string device;   ///< "cpu", "cuda:0"
  std::uint64_t seed = 1;
};

struct Started {
  double seconds = 0;  ///< inputs and the reference's results
  int input_sets = 0;
};

struct Prepared {
  trials::Status status = trials::Status::kOk;  ///< kOk, kInvalid, kWrong or kError
  std::string reason;
  double seconds = 0;         ///< compile, check, warm-up
  double sample_seconds = 0;  ///< that one sample takes
  std::string compiler;
  trials::Resources resources;
};

struct Samples {
  std::vector<double> us;  ///< of one call, a sample each
  unsigned sm_mhz = 0;
  std::string throttle;
};

/// The lab is gone, and everything that was prepared in it. Whoever was being worked on did it.
class LabLost : public std::runtime_error {
 public:
  LabLost(bool hang, const std::string& reason) : std::runtime_error(reason), hang_(hang) {}
  /// It gave no answer in time, and was ended.
  bool is_hang() const { return hang_; }

 private:
  bool hang_;
};

class Lab {
 public:
  virtual ~Lab() = default;

  /// A new, empty lab, in place of one that was lost. LabLost; Error with the lab's own message
  /// when it says that it cannot serve the subject.
  virtual Started start(const Subject& subject) = 0;

  /// Builds a tiling, compares its results with the reference's on poisoned outputs (if `check`),
  /// and warms it up. A failure is a status. LabLost.
  virtual Prepared prepare(std::size_t id, std::string_view tiling, bool check) = 0;

  /// Times what was prepared under the id. LabLost; Error for a failure that the lab survived.
  virtual Samples sample(std::size_t id, int count) = 0;

  /// Frees what was prepared.
  virtual void drop(std::size_t id) = 0;
};

}  // namespace einkorn::tune
