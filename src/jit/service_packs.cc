// What a service has from packs, and what it says when nothing serves.

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/core/warning.h"
#include "src/jit/pack_index.h"
#include "src/jit/service_job.h"

namespace einkorn::jit {
namespace {

constexpr const char* kMiss = "miss";

}  // namespace

bool Service::ask_packs(Job& job) {
  for (const std::string& pack : settings_.packs) {
    const Clock::time_point start = Clock::now();
    std::string trouble = cannot_use_pack(pack, settings_.trust);
    Store::Found found;
    if (trouble.empty()) {
      found = read_packed(pack, job.inputs.arch, job.inputs.content);
      if (found.artifact == nullptr && found.reason != kMiss) trouble = found.reason;
    }
    job.outcome.artifact = std::move(found.artifact);
    if (job.outcome.artifact != nullptr) {
      job.note("pack " + pack, "hit", start);
      return true;
    }
    if (!trouble.empty()) warn_once(fmt::format("pack {}: {}", pack, trouble));
    if (trouble.empty()) trouble = kMiss;
    job.note("pack " + pack, trouble, start);
    job.packs.emplace_back(pack, trouble);
  }
  return false;
}

void Service::throw_nothing_serves(const Job& job) const {
  std::string message = fmt::format("jit: {}: ", job.inputs.main().name);
  std::string hint;
  if (settings_.mode != Mode::kOn) {
    message += fmt::format("not compiled ahead, and EINKORN_JIT={} forbids compiling",
                           settings_.mode == Mode::kOff ? "off" : "cache-only");
    hint = settings_.mode == Mode::kOff
               ? "einkorn pack compiles ahead; EINKORN_JIT=cache-only reads the cache as well, on "
                 "compiles"
               : "einkorn pack or einkorn warmup compiles ahead; EINKORN_JIT=on allows compiling";
  } else {
    message += "no compiler serves";
    for (const std::string& refusal : job.refusals) message += fmt::format("\n    {}", refusal);
    hint = "einkorn doctor shows what was found";
  }
  for (const auto& [pack, why] : job.packs) {
    message += fmt::format("\n    pack {}: {}", pack,
                           why == kMiss ? nearest_in_pack(pack, job.inputs) : why);
  }
  message += fmt::format("\n  entry: {}  arch: {}\n  hint: {}", fmt::join(job.inputs.entries, ", "),
                         job.inputs.arch, hint);
  throw_error(ErrorKind::kRuntime, std::move(message));
}

}  // namespace einkorn::jit
