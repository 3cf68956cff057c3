#pragma once

// Profiles for people.

#include <string>
#include <vector>

#include "src/profile/documents.h"

namespace einkorn::cli {

std::string event_text(const profile::EventProfile& profile);
std::string counters_text(const std::vector<profile::KernelCounters>& kernels);

/// A table with a bar for each kernel, then what ran side by side and where nothing ran.
std::string timeline_text(const profile::Timeline& timeline);

}  // namespace einkorn::cli
