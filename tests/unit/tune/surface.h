#pragma once

// Synthetic times of tilings: smooth in the logarithms of their fields, with an interaction, a step
// and noise, as kernels have them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <einkorn/op.h>
#include <fmt/format.h>

#include "src/tune/search.h"

namespace einkorn::tune {

/// A space of tilings with the true time of each.
struct Surface {
  std::vector<Candidate> candidates;
  std::vector<double> us;

  double best() const { return *std::ranges::min_element(us); }
};

/// A few dozen to a few hundred tilings; where the fastest are depends on the seed.
inline Surface make_surface(std::uint64_t seed) {
  Rng random(seed);
  const double lanes_at = 5 + 5 * random.uniform();
  const double items_at = 4 * random.uniform();
  const double stages_at = 1 + 3 * random.uniform();
  const double twist = 0.06 * (random.uniform() - 0.5);
  const double bulk = 0.9 + 0.2 * random.uniform();
  const int widest = 64 << static_cast<int>(random.next() % 4);
  Surface out;
  for (int lanes = 32; lanes <= 1024; lanes *= 2) {
    for (int items = 1; items <= 16; items *= 2) {
      if (lanes * items > 16 * widest || lanes * items < widest) continue;
      for (int stages = 1; stages <= 4; ++stages) {
        for (const char* path : {"plain", "bulk"}) {
          const double a = std::log2(lanes) - lanes_at;
          const double b = std::log2(items) - items_at;
          const double c = stages - stages_at;
          double us = 20 * (1 + 0.04 * a * a + 0.05 * b * b + 0.03 * c * c + twist * a * b);
          if (lanes * items >= 8192) us *= 1.3;  // one block less is resident
          if (path[0] == 'b') us *= bulk;
          out.candidates.push_back(
              {fmt::format("lanes={} items={} stages={} path={}", lanes, items, stages, path), 0});
          out.us.push_back(us);
        }
      }
    }
  }
  // The heuristic's choice is a fair one, seldom the best.
  const auto middle = static_cast<std::size_t>(random.next() % (out.us.size() / 2));
  std::vector<double> sorted = out.us;
  std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(middle));
  const auto at =
      static_cast<std::size_t>(std::ranges::find(out.us, sorted[middle]) - out.us.begin());
  std::swap(out.us[0], out.us[at]);
  std::swap(out.candidates[0], out.candidates[at]);
  return out;
}

/// One measurement, within a percent.
inline double measured(double us, Rng& random) {
  return us * (1 + 0.01 * (random.uniform() - 0.5));
}

}  // namespace einkorn::tune
