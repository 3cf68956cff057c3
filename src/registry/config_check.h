#pragma once

// The rules of a configuration held against the registry and against the paths of a model.

#include <set>
#include <span>
#include <string>
#include <string_view>

#include <einkorn/registry.h>
#include <einkorn/slots.h>

#include "src/registry/faults.h"

namespace einkorn::detail {

/// A rule with the table it is in; no table: of every slot.
struct Applied {
  const ConfigRule* rule = nullptr;
  const ModuleRules* table = nullptr;

  std::string text() const;
};

/// The rule for a slot; no rule where there is none.
Applied rule_for(const OpConfig& config, const SlotRequest& slot);

/// The entry by that name, or null and a fault of the slot.
const OpEntry* find_slot_op(const Registry& view, std::string_view op, std::string_view subject,
                            Faults& faults);

/// Finds the rules that cannot be right for any model, each of them a fault.
class BadRules {
 public:
  BadRules(const OpConfig& config, const Registry& view, Faults& faults);

  bool has(const ConfigRule& rule) const { return bad_.contains(&rule); }

 private:
  void check(const Applied& applied);
  void check_default(const Applied& applied);
  void add(ErrorKind kind, const Applied& applied, std::string text);

  const Registry& view_;
  Faults& faults_;
  std::set<const ConfigRule*> bad_;
};

/// A pattern that fits no slot is a slip, unlike a rule for an op that the model does not have.
void check_patterns(const OpConfig& config, std::span<const SlotRequest> requests, Faults& faults);

}  // namespace einkorn::detail
