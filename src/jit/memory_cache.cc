#include "src/jit/memory_cache.h"

namespace einkorn::jit {

std::shared_ptr<const Artifact> MemoryCache::get(const Digest& key,
                                                 const std::function<Outcome()>& build, bool* hit) {
  std::shared_ptr<Slot> slot;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Slot>& found = slots_[key];
    if (found == nullptr) found = std::make_shared<Slot>();
    slot = found;
  }
  const std::lock_guard lock(slot->mutex);
  if (hit != nullptr) *hit = slot->outcome.has_value();
  if (!slot->outcome) slot->outcome = build();
  // A copy each: threads that handle the error must not share it.
  if (slot->outcome->failure) throw Error(*slot->outcome->failure);
  return slot->outcome->artifact;
}

void MemoryCache::clear() {
  const std::lock_guard lock(mutex_);
  slots_.clear();
}

}  // namespace einkorn::jit
