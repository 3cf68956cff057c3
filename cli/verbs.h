#pragma once

// What each verb can be told, and the verbs. They print their result on stdout and return the exit
// status; errors are thrown.

#include <cstdint>
#include <string>
#include <vector>

namespace einkorn::cli {

/// Result of a level that was not given: the verb decides.
inline constexpr int kLevelByDevice = -1;

struct ListOptions {
  bool json = false;
  std::string what;  ///< "variants", "ops", "arches", "devices", or empty: ops with their variants
};

struct ExplainOptions {
  bool json = false;
  std::vector<std::string> words;  ///< one target and key=value pairs, in any order
  std::string device;              ///< as find_device_info; empty: the best here
};

struct CheckOptions {
  bool json = false;
  bool all = false;
  bool compile = false;
  bool verbose = false;
  std::vector<std::string> words;
  std::string device;
  int level = kLevelByDevice;
  std::uint64_t seed = 1;
};

struct BenchOptions {
  bool json = false;
  bool peers = false;
  bool tilings = false;
  bool all_variants = false;
  bool versions = false;
  bool call_cost = false;
  std::vector<std::string> words;
  std::vector<std::string> cases;
  std::string device;
  std::string output;
  double seconds = 0.3;
  std::uint64_t seed = 1;
};

struct RunOptions {
  bool json = false;
  bool peers = false;
  bool all_variants = false;
  std::vector<std::string> words;
  std::string device;
  std::string output;  ///< folder; empty: out/run/<op>-<date>
  int level = kLevelByDevice;
  double seconds = 0.3;
  std::uint64_t seed = 1;
};

struct DoctorOptions {
  bool json = false;
  bool measure = false;
};

int list(const ListOptions& options);
int explain_choice(const ExplainOptions& options);
int check_variants(const CheckOptions& options);
int bench_variants(const BenchOptions& options);
int run_op(const RunOptions& options);
int doctor(const DoctorOptions& options);

}  // namespace einkorn::cli
