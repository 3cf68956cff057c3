#pragma once

// Profiles as JSON; docs/guide/json.md has the fields.

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "src/profile/counters.h"
#include "src/profile/event.h"
#include "src/profile/timeline.h"

namespace einkorn::profile {

/// Keys in the order in which docs/guide/json.md lists them.
using Json = nlohmann::ordered_json;

/// What a profile was taken of and with: op, variant, problem, tiling, device, driver, versions,
/// commit, date, seed; also the file params.json. `tools`: versions of what took part besides
/// einkorn and NVRTC, by name.
Json params_json(const std::string& mode, const Subject& subject,
                 const std::map<std::string, std::string>& tools = {});

/// Fields of a mode, to be added to params_json's.
Json event_json(const EventProfile& profile);
Json timeline_json(const Timeline& timeline);

/// One kernel of `--mode counters`.
struct KernelCounters {
  std::string stage;   ///< path in the plan's tree; empty when it cannot be told
  std::string kernel;  ///< as ncu calls it
  Counters counters;
  Verdict verdict;
};
Json counters_json(const std::vector<KernelCounters>& kernels);

}  // namespace einkorn::profile
