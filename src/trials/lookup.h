#pragma once

// Which tiling is known to be best for a problem.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/trials/store.h"
#include "src/trials/trial.h"

namespace einkorn::trials {

/// A key of the op's problems, as far as distance needs it.
struct ProblemKey {
  std::string name;
  bool integer = false;       ///< measured in octaves; all others must be equal
  std::string default_value;  ///< what a printed problem that leaves it out means
};

struct Query {
  std::string op;
  std::string variant;  ///< id
  std::string problem;  ///< printed
  std::vector<ProblemKey> keys;
  std::string device;  ///< its name
  int cc = 0;
  int sm_count = 0;
  std::string source;  ///< see source.h
  std::string mode = "graph";
  std::string l2 = "cold";
};

enum class Quality { kExact, kNearest, kMissing };
std::string_view name(Quality quality);  ///< "exact", "nearest", "missing"

struct Found {
  Quality quality = Quality::kMissing;
  std::string tiling;   ///< printed
  std::string problem;  ///< that it was measured for
  std::string device;   ///< that it was measured on
  double distance = 0;  ///< octaves; 0 when exact
  std::string origin;   ///< "trials" or "bundled"; empty when missing
  double us = 0;        ///< the median that was measured
};

/// Whether a printed tiling can be had for the problem that is asked about.
using Validate = std::function<bool(std::string_view tiling)>;

/// The farthest that a problem may be: two octaves in all, one dimension four times as large. Past
/// that the heuristic, which sees the problem itself, is the better guess.
inline constexpr double kFarthest = 2;

/// Differences closer than this share of a time are noise, whatever the quartiles say.
inline constexpr double kNoise = 0.01;
/// Differences above this share are none, however wide the quartiles are.
inline constexpr double kWidestTie = 0.05;

/// A candidate as the tie rule sees it.
struct Standing {
  std::string tiling;
  double median_us = 0, q1_us = 0, q3_us = 0;
  Resources resources;
};

/// Whether `one` is as fast as the fastest as far as one can tell: its median within kNoise of the
/// best one's, or its lower quartile not above the best one's upper, and within kWidestTie.
bool is_tied(const Standing& one, const Standing& best);

/// Index of the winner: of all tied with the best median the one with least shared memory, then
/// registers, then threads, then printed text, so that every process chooses alike whatever the
/// order. Nothing for an empty list.
std::optional<std::size_t> pick_winner(std::span<const Standing> standings);

/// Distance in octaves: Euclidean over log2 of the integers. Nothing when another field differs,
/// or one integer is zero and the other is not.
std::optional<double> distance(std::string_view a, std::string_view b,
                               std::span<const ProblemKey> keys);

/// The last trial of each tiling of one problem that was measured well, without the disqualified.
/// Takes only trials of the query's op, variant, device, source, mode and cache state.
std::vector<Standing> standings(std::span<const Trial> trials, const Query& query,
                                std::string_view problem);

/// Exact: trials of the same problem, device and source; the user's before bundled ones. Nearest:
/// of the same compute capability (bundled ones and a CPU's: of the same device) and source within
/// kFarthest; first those of the same device, then by distance, then the user's, then by the
/// problem's text. A tiling that `validate` rejects gives way to the next.
Found look_up(const Reading& user, const Reading& bundled, const Query& query,
              const Validate& validate);

/// The same, by the user's store and the bundled tunings. Throws nothing but what `validate` does.
Found tuned(const Query& query, const Validate& validate);

}  // namespace einkorn::trials
