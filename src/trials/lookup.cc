#include "src/trials/lookup.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "src/trials/bundled.h"

namespace einkorn::trials {
namespace {

using Pairs = std::map<std::string, std::string, std::less<>>;

/// The problem's fields with defaults filled in. Words without '=' count as names.
Pairs fields_of(std::string_view problem, std::span<const ProblemKey> keys) {
  Pairs out;
  for (const ProblemKey& key : keys) out[key.name] = key.default_value;
  while (!problem.empty()) {
    const std::string_view word = problem.substr(0, problem.find(' '));
    problem.remove_prefix(std::min(problem.size(), word.size() + 1));
    if (word.empty()) continue;
    const std::size_t equals = std::min(word.find('='), word.size());
    out[std::string(word.substr(0, equals))] = word.substr(std::min(equals + 1, word.size()));
  }
  return out;
}

std::optional<std::int64_t> integer_of(const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || after != end) return std::nullopt;
  return value;
}

/// Octaves between two printed integers.
std::optional<double> octaves(const std::string& a, const std::string& b) {
  if (a == b) return 0;
  const auto x = integer_of(a);
  const auto y = integer_of(b);
  if (!x || !y || *x <= 0 || *y <= 0) return std::nullopt;
  return std::log2(static_cast<double>(*x)) - std::log2(static_cast<double>(*y));
}

bool is_same_device(const Place& place, const Query& query) {
  return place.device == query.device && place.cc == query.cc && place.sm_count == query.sm_count;
}

bool is_same_arch(const Place& place, const Query& query) {
  return place.cc == query.cc && (query.cc > 0 || is_same_device(place, query));
}

bool is_about(const Trial& trial, const Query& query) {
  return trial.op == query.op && trial.variant == query.variant && trial.source == query.source &&
         !query.source.empty() && trial.mode == query.mode && trial.l2 == query.l2 &&
         is_same_arch(trial.place, query);
}

/// Trials that share problem, device and origin: what one winner is taken from.
struct Group {
  bool other_device = false;
  double distance = 0;
  bool is_bundled = false;
  std::string problem;
  std::string device;
  int sm_count = 0;

  auto key() const {
    return std::tie(other_device, distance, is_bundled, problem, device, sm_count);
  }
  bool operator<(const Group& other) const { return key() < other.key(); }
  bool is_exact() const { return !other_device && distance == 0; }
};

using Groups = std::map<Group, std::vector<const Trial*>>;

void add_groups(const Reading& reading, bool is_bundled, const Query& query, Groups& groups) {
  // Problems repeat, one for each tiling.
  std::map<std::string_view, std::optional<double>> distances;
  for (const Trial& trial : reading.trials) {
    if (!is_about(trial, query)) continue;
    // Nobody chose what ships: a device with another memory has other winners
    // (docs/guide/tuning.md).
    if (is_bundled && !is_same_device(trial.place, query)) continue;
    const auto [at, is_new] = distances.try_emplace(trial.problem);
    if (is_new) at->second = distance(trial.problem, query.problem, query.keys);
    if (!at->second || *at->second > kFarthest) continue;
    groups[{!is_same_device(trial.place, query), *at->second, is_bundled, trial.problem,
            trial.place.device, trial.place.sm_count}]
        .push_back(&trial);
  }
}

std::vector<Standing> standings_of(std::span<const Trial* const> trials) {
  struct Last {
    const Trial* trial = nullptr;
    bool is_out = false;
  };
  std::map<std::string_view, Last> last;
  for (const Trial* trial : trials) {
    Last& one = last[trial->tiling];
    one.trial = trial;
    one.is_out = one.is_out || is_disqualifying(trial->status);
  }
  std::vector<Standing> out;
  for (const auto& [tiling, one] : last) {
    if (one.is_out || one.trial->status != Status::kOk) continue;
    out.push_back({one.trial->tiling, one.trial->median_us, one.trial->q1_us, one.trial->q3_us,
                   one.trial->resources});
  }
  return out;
}

/// The winner that can be had; takes the others out of `list`.
std::optional<Standing> first_valid(std::vector<Standing> list, const Validate& validate) {
  while (const auto winner = pick_winner(list)) {
    const auto at = list.begin() + static_cast<std::ptrdiff_t>(*winner);
    if (!validate || validate(at->tiling)) return *at;
    list.erase(at);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Quality quality) {
  switch (quality) {
    case Quality::kExact:
      return "exact";
    case Quality::kNearest:
      return "nearest";
    case Quality::kMissing:
      return "missing";
  }
  return "?";
}

bool is_tied(const Standing& one, const Standing& best) {
  if (one.median_us <= best.median_us * (1 + kNoise)) return true;
  return one.q1_us <= best.q3_us && one.median_us <= best.median_us * (1 + kWidestTie);
}

std::optional<std::size_t> pick_winner(std::span<const Standing> standings) {
  if (standings.empty()) return std::nullopt;
  const auto cost = [](const Standing& one) {
    return std::tie(one.resources.smem, one.resources.registers, one.resources.threads, one.tiling);
  };
  // Of equal medians the cheapest is the best, so that the order does not decide.
  const Standing& best = *std::ranges::min_element(standings, [&](const auto& a, const auto& b) {
    return a.median_us != b.median_us ? a.median_us < b.median_us : cost(a) < cost(b);
  });
  std::size_t winner = standings.size();
  for (std::size_t i = 0; i < standings.size(); ++i) {
    if (!is_tied(standings[i], best)) continue;
    if (winner == standings.size() || cost(standings[i]) < cost(standings[winner])) winner = i;
  }
  return winner;
}

std::optional<double> distance(std::string_view a, std::string_view b,
                               std::span<const ProblemKey> keys) {
  if (a == b) return 0;
  const Pairs first = fields_of(a, keys);
  const Pairs second = fields_of(b, keys);
  if (first.size() != second.size()) return std::nullopt;
  double squares = 0;
  for (auto x = first.begin(), y = second.begin(); x != first.end(); ++x, ++y) {
    if (x->first != y->first) return std::nullopt;
    if (x->second == y->second) continue;
    const auto key = std::ranges::find(keys, x->first, &ProblemKey::name);
    if (key == keys.end() || !key->integer) return std::nullopt;
    const auto apart = octaves(x->second, y->second);
    if (!apart) return std::nullopt;
    squares += *apart * *apart;
  }
  return std::sqrt(squares);
}

std::vector<Standing> standings(std::span<const Trial> trials, const Query& query,
                                std::string_view problem) {
  std::vector<const Trial*> taken;
  for (const Trial& trial : trials) {
    if (trial.problem == problem && is_about(trial, query) && is_same_device(trial.place, query)) {
      taken.push_back(&trial);
    }
  }
  return standings_of(taken);
}

Found look_up(const Reading& user, const Reading& bundled, const Query& query,
              const Validate& validate) {
  Groups groups;
  add_groups(user, false, query, groups);
  add_groups(bundled, true, query, groups);
  for (const auto& [group, trials] : groups) {
    const auto winner = first_valid(standings_of(trials), validate);
    if (!winner) continue;
    return {.quality = group.is_exact() ? Quality::kExact : Quality::kNearest,
            .tiling = winner->tiling,
            .problem = group.problem,
            .device = group.device,
            .distance = group.distance,
            .origin = group.is_bundled ? "bundled" : "trials",
            .us = winner->median_us};
  }
  return {};
}

Found tuned(const Query& query, const Validate& validate) {
  // A GPU may use what another one of its kind measured; a CPU only what it measured itself.
  const TrialStore& store = user_store(false);
  const Reading user = query.cc > 0 ? store.read_all(query.op) : store.read(query.op, query.device);
  return look_up(user, bundled(query.op), query, validate);
}

}  // namespace einkorn::trials
