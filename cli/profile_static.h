#pragma once

// What compiled kernels say of themselves: no counters, no device needed.

#include <cstdint>
#include <string>
#include <vector>

#include "cli/json.h"
#include "src/profile/subject.h"

namespace einkorn::cli {

struct StaticFacts {
  std::string stage;
  int registers = 0;              ///< a thread
  std::int64_t static_smem = 0;   ///< bytes a block
  std::int64_t dynamic_smem = 0;  ///< bytes a block
  int threads = 0;                ///< a block
  std::int64_t blocks = 0;        ///< of the launch
  std::int64_t spill_bytes = 0;   ///< a thread, stores and loads
  double occupancy = 0;  ///< the most warps that can be resident, over those that fit: 0 to 1
  double waves = 0;      ///< blocks over those resident at once; 0: not one is
};

/// Of each launch of the plan, compiled for the subject's device, which need not be here.
/// Throws what compiling throws.
std::vector<StaticFacts> static_facts(const profile::Subject& subject);

std::string static_text(const std::vector<StaticFacts>& facts);
Json static_json(const std::vector<StaticFacts>& facts);

}  // namespace einkorn::cli
