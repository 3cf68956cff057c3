#include <map>
#include <memory>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/core/environment.h"
#include "src/core/warning.h"
#include "src/jit/cache_root.h"
#include "src/trials/store.h"

namespace einkorn::trials {
namespace {

std::string root_in_cache(bool make) {
  const jit::CacheRoot found = jit::find_cache_root(jit::Settings::from_environment(), make);
  if (!found.path.empty()) return found.path + "/trials";
  if (make) {
    warn_once(
        fmt::format("no folder to keep trials in ({}); they are kept in memory until the "
                    "process ends",
                    fmt::join(found.refused, "; ")));
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
