#pragma once

// The environment variables that einkorn reads, in one table.

#include <string>
#include <vector>

#include <einkorn/registry.h>

namespace einkorn::cli {

struct EnvironmentVariable {
  std::string name;
  std::string meaning;
  std::string value;  ///< as set
};

/// The known variables that are set, in the order of docs/guide/environment.md. EINKORN_<OP> counts
/// as known for every op of `registry`.
std::vector<EnvironmentVariable> variables_in_force(const Registry& registry);

/// A variable that is set, begins with EINKORN_ and means nothing.
struct UnknownVariable {
  std::string name;
  std::string nearest;  ///< the known one that was probably meant; empty when none is near
};
std::vector<UnknownVariable> unknown_variables(const Registry& registry);

/// What is wrong with the values of variables that only a compilation reads.
std::vector<std::string> problems_of_compile_variables();

}  // namespace einkorn::cli
