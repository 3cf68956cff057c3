#pragma once

// Tilings as points, so that a regression can tell near from far.

#include <span>
#include <vector>

#include "src/tune/search.h"

namespace einkorn::tune {

/// One row a candidate, all of one length, each column from 0 to 1. A field of numbers is one
/// column, log2 of them (of one more than them where one is zero); any other field is one column
/// for each of its values, of which two different values are 1 apart. Fields that never change are
/// left out. Predicted times, where every candidate has one and they are not all tied, are a
/// column, too.
std::vector<std::vector<double>> features(std::span<const Candidate> candidates);

}  // namespace einkorn::tune
