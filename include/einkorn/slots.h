#pragma once

// Which variant serves which place of a model: a configuration, slots, and their binding. Slots
// belong to a model instance; nothing here belongs to the process.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <einkorn/device.h>
#include <einkorn/dispatch.h>
#include <einkorn/fields.h>
#include <einkorn/op.h>

namespace einkorn {

/// `op = "choice"` of a configuration.
struct ConfigRule {
  std::string op;          ///< an op's name, or "default": every op that no rule beside it names
  std::string choice;      ///< "auto", "reference", a variant's name or id, or a pattern over these
  std::string where = {};  ///< for messages: "line 3", "EINKORN_OPS"; empty: not told
};

/// Rules for the slots whose paths a pattern fits: `*` is any run of characters within a part of
/// the path, `**` across parts, `?` one character; parts are separated by '.'.
struct ModuleRules {
  std::string pattern;
  std::vector<ConfigRule> rules;
  std::string where = {};
};

/// Which op uses which variant. A slot takes, from the last of `modules` that fits its path and has
/// a rule for its op, that rule; else the op's own of `rules`. In each place "default" is the rule
/// of ops that have none there, and of two rules for one op the later counts.
///
/// The texts are read here, but held against the registry by check() and resolve() only, since
/// plugins may add ops and variants meanwhile.
struct OpConfig {
  std::vector<ConfigRule> rules;
  std::vector<ModuleRules> modules;

  /// `op = "choice"` lines, then tables `[modules."pattern"]` of such lines, in the order of the
  /// text. ValueError with the line: not TOML, a value that is not text, a table of another name.
  static OpConfig from_toml(std::string_view text);
  /// {"op": "choice", "modules": {"pattern": {"op": "choice"}}}, in the order of the text.
  /// ValueError: not JSON, a key given twice, as above.
  static OpConfig from_json(std::string_view text);
  /// "op" or "pattern:op" with their choices; rules of one pattern may be anywhere. ValueError: an
  /// empty key or choice, a key given twice.
  static OpConfig from_pairs(const KeyValues& pairs);
  /// EINKORN_OPS: such pairs as "rms_norm=auto,model.layers.0.*:silu_mul=cpu/rows_v1"; no rules
  /// when it is not set. ValueError as above, or for a pair without '='.
  static OpConfig from_environment();

  /// ValueError that lists all rules with an unknown op or variant, with the nearest known.
  void check() const;
};

/// What is asked of resolve(): a named place of a model.
struct SlotRequest {
  std::string path;  ///< within the model: "model.layers.0.input_layernorm"
  std::string op;
  /// Where it is known when the model is built: as for `einkorn explain`, keys left out take the
  /// op's defaults. Nothing: any problem may come.
  std::optional<KeyValues> problem = {};
};

/// What a slot uses, and why.
struct SlotBinding {
  struct Loser {
    std::string variant;  ///< id
    std::string refusal;  ///< why not this one
  };
  std::string path;
  std::string op;
  std::string rule;  ///< the one that decided, as in the configuration, with its line
  /// Id of a variant; or, where the problem was not known, "auto" or a pattern: decided for each
  /// problem when it is first called, by list order.
  std::string variant;
  std::string reason;
  std::vector<Loser> losers;
};

/// Decides for all slots of a model, or for none: all faults are collected into one error, in the
/// order of configuration and requests. Its kind is that of the worst fault:
///   ValueError: an unknown op or variant, a pattern of `modules` that fits no path, a slot without
///   a rule, a problem that its op does not know (TypeError if that is all);
///   RuntimeError: a rule names variants, none of which the device can run at all;
///   NotImplementedError: what the rule allows refuses the slot's problem.
/// EINKORN_<OP> counts for slots with "auto" only. The device need not be here.
std::vector<SlotBinding> resolve(const OpConfig& config, std::span<const SlotRequest> requests,
                                 const DeviceInfo& device);

/// A place of a model instance that calls one op. A copy has the binding of its original, and goes
/// its own way from there. Calls from several threads are safe as long as none binds.
class OpSlot {
 public:
  OpSlot(std::string path, std::string op, std::optional<KeyValues> problem = {})
      : request_{std::move(path), std::move(op), std::move(problem)} {}

  const SlotRequest& request() const { return request_; }
  bool is_bound() const { return binding_.has_value(); }

  /// Takes a binding of resolve() in place of the one it may have. ValueError: one of another slot.
  void bind(SlotBinding binding);
  void unbind() { binding_.reset(); }

  /// RuntimeError: the slot is not bound.
  const SlotBinding& binding() const {
    if (!binding_) [[unlikely]] {
      throw_unbound();
    }
    return *binding_;
  }
  /// SlotBinding::variant. RuntimeError: the slot is not bound.
  const std::string& variant_name() const { return binding().variant; }
  /// The choice that a call of the op takes; empty for "auto". RuntimeError: the slot is not bound.
  std::string_view choice() const {
    const std::string& variant = binding().variant;
    return variant == "auto" ? std::string_view() : std::string_view(variant);
  }

  /// Calls the op. RuntimeError: the slot is not bound; ValueError: C is another op; else what
  /// dispatch() throws.
  template <Contract C>
  void run(const typename C::Args& args, Stream stream) const {
    check_op(C::kName);
    dispatch<C>(args, stream, choice());
  }
  /// Does all of a call but the launch, as einkorn::prepare().
  template <Contract C>
  void prepare(const typename C::Args& args, Stream stream) const {
    check_op(C::kName);
    einkorn::prepare<C>(args, stream, choice());
  }

 private:
  friend void bind_slots(std::span<OpSlot* const> slots, const OpConfig& config,
                         const DeviceInfo& device);

  void check_op(std::string_view op) const {
    if (op != request_.op) [[unlikely]] {
      throw_other_op(op);
    }
  }
  [[noreturn]] void throw_unbound() const;
  [[noreturn]] void throw_other_op(std::string_view op) const;

  SlotRequest request_;
  std::optional<SlotBinding> binding_;
};

/// Binds all slots of a model or, with an error, none: they then are as they were. Errors as of
/// resolve(); RuntimeError also for a device that is not here. Not called bind: for a vector of
/// slots std::bind would be found, and do nothing.
void bind_slots(std::span<OpSlot* const> slots, const OpConfig& config, const DeviceInfo& device);

/// Each binding with its rule, its reason and the losers, as a table for people.
std::string dump(std::span<const SlotBinding> bindings);
/// The same as a JSON array of objects with the members of SlotBinding.
std::string bindings_json(std::span<const SlotBinding> bindings);

}  // namespace einkorn
