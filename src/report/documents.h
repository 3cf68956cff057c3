#pragma once

// What a report is made of: the documents that the command writes, as they were read. Times are
// microseconds.

#include <string>
#include <utility>
#include <vector>

namespace einkorn::report {

/// Where numbers come from. What a document does not say is empty.
struct Origin {
  std::string path;
  std::string device;  ///< the driver's name of it; numbers of two devices never share a chart
  std::string driver;
  std::string commit;
  std::string date;  ///< UTC, as "2026-11-28T02:17:59Z": texts in order are dates in order
  std::vector<std::pair<std::string, std::string>> versions;  ///< of software, by name
};

struct Spread {
  double median_us = 0;
  double q1_us = 0;
  double q3_us = 0;
};

struct Peer {
  std::string name;
  std::string version;
  std::string skipped;  ///< why it did not run; empty when it did
  Spread time;
};

/// One row of `einkorn bench`.
struct Result {
  std::string variant;
  std::string case_name;
  std::string problem;
  std::string tiling;
  Spread time;
  double gbps = 0;    ///< minimum bytes over the median, 1e9 bytes/s
  double tflops = 0;  ///< useful flops over the median, 1e12 flops/s
  std::string roof;   ///< "memory", "cache", ...
  double percent_of_roof = 0;
  double predicted_us = 0;  ///< 0: unknown
  double copy_us = 0;       ///< 0: unknown
  std::string copied_by;
  std::vector<Peer> peers;
  std::string failure;  ///< why it could not be measured; empty when it was
};

struct BenchDocument {
  Origin origin;
  std::string op;
  std::vector<Result> results;
};

struct StageTime {
  std::string name;
  Spread time;
  double predicted_us = 0;  ///< 0: unknown
  int depth = 0;            ///< of the plan's tree; the parts of a stage follow it, one deeper
};

/// Of `einkorn profile --mode event`.
struct ProfileDocument {
  Origin origin;
  std::string variant;
  std::string problem;
  double total_us = 0;  ///< 0: unknown
  std::vector<StageTime> stages;
};

/// One line of a trial store. Its place in `Documents::trials` is its place in the file.
struct Trial {
  Origin origin;
  std::string op;
  std::string variant;
  std::string problem;
  std::string tiling;
  std::string conditions;  ///< what else has to be equal for times to be comparable, for people
  std::string status;      ///< "ok", or how it failed
  std::string reason;
  Spread time;
  double predicted_us = 0;
};

/// A rate of `einkorn doctor --measure`.
struct Rate {
  Origin origin;
  std::string what;  ///< "copy", "bf16 matmul"
  double gbps = 0;   ///< one of the two is 0
  double tflops = 0;
};

/// A file, or a line of one, that is not in the report.
struct Skipped {
  std::string path;
  int line = 0;   ///< from 1; 0: the whole file
  int count = 1;  ///< lines like this one, which is the first
  std::string reason;
};

/// A file that was read.
struct Source {
  Origin origin;
  std::string kind;  ///< "bench", "run", "profile", "trials", "doctor"
  int count = 0;     ///< results, stages, trials or rates in it
};

struct Documents {
  std::vector<BenchDocument> benches;
  std::vector<ProfileDocument> profiles;
  std::vector<Trial> trials;
  std::vector<Rate> rates;
  std::vector<Source> sources;
  std::vector<Skipped> skipped;

  bool empty() const {
    return benches.empty() && profiles.empty() && trials.empty() && rates.empty();
  }
};

}  // namespace einkorn::report
