#include "src/jit/memory_cache.h"

#include <atomic>

#include <fmt/format.h>

namespace einkorn::jit {
namespace {

std::atomic<ArtifactStore*> store{nullptr};

}  // namespace

void set_artifact_store(ArtifactStore* value) { store.store(value, std::memory_order_release); }
ArtifactStore* artifact_store() { return store.load(std::memory_order_acquire); }

std::string exact_key(const CompileInputs& inputs) {
  std::string key;
  // Each text after its length: no text can imitate a boundary.
  const auto add = [&key](std::string_view text) {
    key += fmt::format("{}:{};", text.size(), text);
  };
  add(inputs.compiler);
  add(inputs.arch);
  add(inputs.file);
  add(inputs.source);
  key += fmt::format("{} options;", inputs.options.size());
  for (const std::string& option : inputs.options) add(option);
  key += fmt::format("{} entries;", inputs.entries.size());
  for (const std::string& entry : inputs.entries) add(entry);
  return key;
}

std::shared_ptr<const Artifact> MemoryCache::get(const std::string& key,
                                                 const std::function<Outcome()>& build) {
  std::shared_ptr<Slot> slot;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Slot>& found = slots_[key];
    if (found == nullptr) found = std::make_shared<Slot>();
    slot = found;
  }
  const std::lock_guard lock(slot->mutex);
  if (!slot->outcome) slot->outcome = build();
  // A copy each: threads that handle the error must not share it.
  if (slot->outcome->failure) throw Error(*slot->outcome->failure);
  return slot->outcome->artifact;
}

}  // namespace einkorn::jit
