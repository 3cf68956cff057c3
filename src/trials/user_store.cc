#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>

#include <fmt/format.h>

#include "src/core/environment.h"
#include "src/core/warning.h"
#include "src/jit/cache_root.h"
#include "src/jit/settings.h"
#include "src/trials/store.h"

namespace einkorn::trials {
namespace {

/// The first cache folder that can be used. Without `make`, one that is not there is passed over.
std::string root_in_cache(bool make) {
  const auto settings = jit::Settings::from_environment();
  std::string reasons;
  for (const std::string& root : jit::cache_candidates(settings)) {
    std::error_code ignored;
    if (!make && !std::filesystem::exists(root, ignored)) continue;
    const std::string reason = jit::cannot_use_root(root, geteuid(), settings.trust);
    if (reason.empty()) return root + "/trials";
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", root, reason);
  }
  if (make) {
    warn_once(
        fmt::format("no folder to keep trials in ({}); they are kept in memory until the "
                    "process ends",
                    reasons));
  }
  return {};
}

std::string root_of_user(bool make) {
  const std::string named = environment("EINKORN_TRIALS");
  if (named == "off") return {};
  return named.empty() ? root_in_cache(make) : named;
}

struct Stores {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<TrialStore>> by_root;
};

}  // namespace

TrialStore& user_store(bool make) {
  static Stores& stores = *new Stores;  // threads may outlive main
  const std::string root = root_of_user(make);
  const std::lock_guard lock(stores.mutex);
  auto& store = stores.by_root[root];
  if (!store) store = std::make_unique<TrialStore>(root);
  return *store;
}

}  // namespace einkorn::trials
