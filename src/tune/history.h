#pragma once

// What a tuning measured, as files.

#include <span>
#include <string>

#include "src/tune/tuner.h"

namespace einkorn::tune {

/// The columns of history_csv(), which are also the keys of a row in JSON.
std::span<const char* const> history_columns();

/// One row a trial in the order in which they were made, with a header; quoted as RFC 4180 says.
std::string history_csv(std::span<const Outcome> outcomes);

/// The same rows as a JSON array. Ends with a newline.
std::string history_json(std::span<const Outcome> outcomes);

}  // namespace einkorn::tune
