#pragma once

// Which variant a problem gets, as text and JSON.

#include <string>

#include "cli/json.h"
#include "cli/target.h"

namespace einkorn::cli {

/// The choice for one problem of a target on one device.
struct Choice {
  std::string name;     ///< of the problem
  std::string problem;  ///< its keys
  Selection selection;
};

/// Bad usage: a variant that does not exist, named by the target or by EINKORN_<OP>.
Choice choose(const Target& target, const NamedProblem& problem, const DeviceInfo& device);

/// Every variant and why it was or was not taken.
std::string choice_table(const Selection& selection);

/// As docs/guide/json.md, explain.
Json choice_json(const Target& target, const Choice& choice, const DeviceInfo& device);

}  // namespace einkorn::cli
