#include <einkorn/registry.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/registry/builtin.h"
#include "src/registry/plugins.h"
#include "src/registry/removal.h"
#include "src/registry/suggest.h"

namespace einkorn {

/// Copies a view, adds to it, and puts the copy in its place; readers keep the view they have.
class RegistryBuilder {
 public:
  explicit RegistryBuilder(const Registry* base) {
    if (base != nullptr) draft_->ops_ = base->ops_;
  }

  void add_entry(OpEntry entry) { draft_->ops_.push_back(std::move(entry)); }

  void add_op(const OpDef& op) {
    for (const OpEntry& entry : draft_->ops_) {
      EK_CHECK(
          entry.op->name != op.name, ErrorKind::kValue,
          fmt::format("register_op: name: expected a new one, got '{}', which exists", op.name));
    }
    draft_->ops_.push_back({&op, {op.reference_variant}});
  }

  /// Before the reference, behind what is there: the lists' own order keeps its preference.
  void add_variant(const Variant& variant, Placement placement = {}) {
    find_arch(variant.arch);
    for (OpEntry& entry : draft_->ops_) {
      if (entry.op->name != variant.op) continue;
      for (const Variant*& other : entry.variants) {
        if (other->name() != variant.name()) continue;
        EK_CHECK(placement.replace, ErrorKind::kValue,
                 fmt::format("register_variant: name: expected a new one, got '{}', which exists",
                             variant.id()));
        other = &variant;
        return;
      }
      const auto place = placement.first ? entry.variants.begin() : entry.variants.end() - 1;
      entry.variants.insert(place, &variant);
      return;
    }
    static_cast<void>(draft_->find(variant.op));  // throws: lists the ops
  }

  void remove_variant(std::string_view id) {
    std::vector<std::string> removable;
    for (OpEntry& entry : draft_->ops_) {
      const std::size_t before = entry.variants.size();
      std::erase_if(entry.variants, [&](const Variant* one) {
        if (is_builtin(*one) || one == entry.op->reference_variant) return false;
        removable.push_back(one->id());
        return removable.back() == id;
      });
      if (entry.variants.size() != before) return;
    }
    throw_error(ErrorKind::kValue,
                fmt::format("remove_variant: id: {}",
                            expected_one_of(id, {removable.begin(), removable.end()})));
  }

  std::shared_ptr<const Registry> finish() { return draft_; }

 private:
  /// Whether it is of the lists in ops/.
  static bool is_builtin(const Variant& variant) {
    static const std::vector<OpEntry> kBuiltin = detail::builtin_ops();
    return std::ranges::any_of(kBuiltin, [&](const OpEntry& entry) {
      return std::ranges::find(entry.variants, &variant) != entry.variants.end();
    });
  }

  std::shared_ptr<Registry> draft_ = std::make_shared<Registry>();
};

namespace {

std::atomic<std::uint64_t>& generation() {
  static std::atomic<std::uint64_t> value{1};
  return value;
}

struct State {
  std::recursive_mutex mutex;  // recursive only so that a plugin's mistake is an error, see below
  std::shared_ptr<const Registry> current;  // null until the first use
  bool plugins_loaded = false;
  bool loading = false;
};
State& state() {
  static State instance;
  return instance;
}

/// While plugins are loaded the registry is in the making: what they add to it goes through the
/// host, and neither their add() nor their static initialisers may ask for it.
void refuse_while_loading(const State& locked) {
  EK_CHECK(!locked.loading, ErrorKind::kRuntime,
           "registry: expected no use by a plugin that is being loaded, got one\n"
           "  hint: add ops and variants through the PluginHost that add() is given");
}

void ensure_builtin(State& locked) {
  if (locked.current != nullptr) return;
  RegistryBuilder builder(nullptr);
  for (OpEntry& entry : detail::builtin_ops()) builder.add_entry(std::move(entry));
  locked.current = builder.finish();
}

class Host final : public PluginHost {
 public:
  explicit Host(RegistryBuilder& builder) : builder_(builder) {}
  void add_op(const OpDef& op) override { builder_.add_op(op); }
  void add_variant(const Variant& variant) override { builder_.add_variant(variant); }

 private:
  RegistryBuilder& builder_;
};

/// Sets a flag for a scope.
class Flagged {
 public:
  explicit Flagged(bool& flag) : flag_(flag) { flag_ = true; }
  Flagged(const Flagged&) = delete;
  Flagged& operator=(const Flagged&) = delete;
  ~Flagged() { flag_ = false; }

 private:
  bool& flag_;
};

void add_plugins(State& locked) {
  const Flagged loading(locked.loading);
  RegistryBuilder builder(locked.current.get());
  Host host(builder);
  if (detail::load_plugins(host)) {
    locked.current = builder.finish();
    generation().fetch_add(1, std::memory_order_release);
  }
  locked.plugins_loaded = true;
}

template <class Change>
void change_registry(Change&& change) {
  State& shared = state();
  const std::lock_guard lock(shared.mutex);
  refuse_while_loading(shared);
  ensure_builtin(shared);
  RegistryBuilder builder(shared.current.get());
  change(builder);
  shared.current = builder.finish();
  generation().fetch_add(1, std::memory_order_release);
}

}  // namespace

std::shared_ptr<const Registry> registry() {
  State& shared = state();
  const std::lock_guard lock(shared.mutex);
  refuse_while_loading(shared);
  ensure_builtin(shared);
  if (!shared.plugins_loaded) add_plugins(shared);
  return shared.current;
}

void register_op(const OpDef& op) {
  change_registry([&](RegistryBuilder& builder) { builder.add_op(op); });
}

void register_variant(const Variant& variant, Placement placement) {
  change_registry([&](RegistryBuilder& builder) { builder.add_variant(variant, placement); });
}

void detail::remove_variant(std::string_view id) {
  change_registry([&](RegistryBuilder& builder) { builder.remove_variant(id); });
}

std::uint64_t registry_generation() { return generation().load(std::memory_order_acquire); }

void clear_plan_caches() { generation().fetch_add(1, std::memory_order_release); }

const OpEntry& Registry::find(std::string_view op) const {
  std::vector<std::string_view> names;
  for (const OpEntry& entry : ops_) {
    if (entry.op->name == op) return entry;
    names.push_back(entry.op->name);
  }
  throw_error(ErrorKind::kValue, fmt::format("op: {}", expected_one_of(op, names)));
}

const Variant& Registry::find_variant(const OpEntry& entry, std::string_view name) const {
  if (name == "reference") return *entry.op->reference_variant;
  std::vector<std::string> names;
  names.reserve(entry.variants.size());
  for (const Variant* variant : entry.variants) {
    names.push_back(variant->name());
    if (name == names.back() || name == variant->id()) return *variant;
  }
  throw_error(ErrorKind::kValue, fmt::format("{}: variant: {}", entry.op->name,
                                             expected_one_of(name, {names.begin(), names.end()})));
}

const Arch& find_arch(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Arch& arch : arches()) {
    if (arch.name == name) return arch;
    names.push_back(arch.name);
  }
  throw_error(ErrorKind::kValue, fmt::format("arch: {}", expected_one_of(name, names)));
}

std::string Variant::name() const { return fmt::format("{}/{}_v{}", arch, design, version); }
std::string Variant::id() const { return fmt::format("{}/{}", op, name()); }

}  // namespace einkorn
