#pragma once

// Where the time of one variant goes.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli/json.h"
#include "src/profile/subject.h"

namespace einkorn::cli {

struct ProfileOptions {
  bool json = false;
  std::vector<std::string> words;  ///< one target and key=value pairs, in any order
  std::string mode = "event";
  std::string tiling;  ///< printed; empty: the one that a call would be given
  std::string device;  ///< as find_device; counters also take one that is not here
  std::string output;  ///< folder; empty: out/profiles/<mode>/<variant>/<problem>/<time>
  double seconds = 0.3;
  std::uint64_t seed = 1;
};

int profile_op(const ProfileOptions& options);

/// The process that ncu looks into; no verb for people. `arguments`: variant, device, tiling, seed,
/// problem. Runs the plan twice: once to compile, load and warm up, once to be profiled.
int profile_run(std::span<char*> arguments);

/// What a mode found out, to be printed and kept.
struct Profiled {
  Json document;
  std::string text;
  struct File {
    std::string name, text;
  };
  std::vector<File> files = {};  ///< besides params.json, profile.json and report.txt
  int status = 0;
};

Profiled profile_counters(const profile::Subject& subject);

}  // namespace einkorn::cli
