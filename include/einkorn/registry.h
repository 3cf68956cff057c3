#pragma once

// Everything that can run, and which of it is chosen, with the reasons.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/device.h>
#include <einkorn/op.h>

namespace einkorn {

/// A row of ops/arches.inc.
struct Arch {
  std::string_view name;           ///< "cpu", "smxx", "sm90"
  std::optional<DeviceKind> kind;  ///< nothing: tensors of any device
  int min_cc;                      ///< inclusive; 0 for the CPU
  int max_cc;                      ///< inclusive
  std::string_view summary;
};

std::span<const Arch> arches();
/// ValueError that lists the arches.
const Arch& find_arch(std::string_view name);

/// An op with its variants in order of preference; the reference comes last.
struct OpEntry {
  const OpDef* op;
  std::vector<const Variant*> variants;
};

/// An unchanging view of everything registered when it was taken.
class Registry {
 public:
  std::span<const OpEntry> ops() const { return ops_; }

  /// ValueError for an unknown name: lists what exists and the nearest.
  const OpEntry& find(std::string_view op) const;
  /// Takes "sm90/bulk_v1", "rms_norm/sm90/bulk_v1" or "reference". ValueError as above.
  const Variant& find_variant(const OpEntry& entry, std::string_view name) const;

 private:
  friend std::shared_ptr<const Registry> registry();
  friend class RegistryBuilder;
  std::vector<OpEntry> ops_;
};

/// The built-in lists, what register_* added, and the plugins of EINKORN_PLUGINS (paths separated
/// by ':'), which are loaded on the first call. A plugin that cannot be loaded is a RuntimeError
/// here, on every call, until the variable is corrected. Hold the pointer while you use the view: a
/// registration may drop it, and `for (... : registry()->ops())` holds nothing while it loops.
std::shared_ptr<const Registry> registry();

/// Adds from outside the tree. The objects must live as long as the process. ValueError for a name
/// that is taken, a variant of an unknown op or arch. Thread-safe; later calls select anew.
void register_op(const OpDef& op);

/// What a registered variant may take from others of its op.
struct Placement {
  bool replace = false;  ///< the place of one of the same name, which has to stay in memory
  bool first = false;    ///< the first place: chosen wherever it serves
};
void register_variant(const Variant& variant, Placement placement = {});

/// What a plugin adds itself through.
class PluginHost {
 public:
  virtual void add_op(const OpDef& op) = 0;
  virtual void add_variant(const Variant& variant) = 0;

 protected:
  ~PluginHost() = default;
};

/// A shared object for EINKORN_PLUGINS exports `extern "C" const einkorn::Plugin*
/// einkorn_plugin_v1()`. The layout sizes are compared before anything is added, so a plugin built
/// against other headers is refused by name.
struct Plugin {
  std::size_t op_size = sizeof(OpDef);
  std::size_t variant_size = sizeof(Variant);
  std::string_view name;
  void (*add)(PluginHost& host) = nullptr;
};

/// Counts up whenever something is registered or the plan caches are cleared.
std::uint64_t registry_generation();

/// Forgets every cached plan, and with them what was read from EINKORN_<OP>.
void clear_plan_caches();

struct Attempt {
  const Variant* variant;
  std::optional<Refusal> refusal;  ///< nothing: it would serve
};

struct Selection {
  const Variant* chosen = nullptr;  ///< null: every variant refused
  std::string quality;              ///< how the tiling was found: "exact", "nearest", "default"
  std::string tiling;               ///< printed; empty with nothing chosen
  std::string tuned_on;             ///< the problem that the tiling was measured for; else empty
  std::string source;               ///< "list order", "argument", "EINKORN_RMS_NORM"
  std::string wanted = {};          ///< the name or pattern that the source gave; empty: any
  std::vector<Attempt> tried;       ///< all variants in order, also those after the chosen one
};

/// Whether the arch, the thread's mode (batch_invariant.h) and the variant itself would serve the
/// problem; the first that does not.
std::optional<Refusal> refusal_of(const Variant& variant, const void* problem,
                                  const DeviceInfo& device);

/// Decides without running anything. `choice` names a variant, or is a pattern over names such as
/// "smxx/*" (`*` is any run within a part, `**` across parts, `?` one character), of which the
/// first in list order that agrees is chosen. Empty or "auto": the environment's EINKORN_<OP> if
/// set, which may be all of these, otherwise the first in list order that agrees. A choice that
/// refuses leaves `chosen` null: nothing falls back. ValueError for an unknown name and a pattern
/// that fits none.
Selection explain(const OpEntry& entry, const void* problem, const DeviceInfo& device,
                  std::string_view choice = {});

/// explain(), but no choice is a NotImplementedError that lists every variant and its refusal.
const Variant& select(const OpEntry& entry, const void* problem, const DeviceInfo& device,
                      std::string_view choice = {});

/// The text of that error.
std::string describe_failure(const OpEntry& entry, const void* problem, const DeviceInfo& device,
                             const Selection& selection);

/// "EINKORN_RMS_NORM" for "rms_norm".
std::string environment_name(std::string_view op);

/// This machine's CPU as a device.
const DeviceInfo& cpu_info();
/// cpu_info() or cuda::device_info().
const DeviceInfo& device_info(Device device);
/// "cpu", "cuda:0", or a known device's name such as "h100".
DeviceInfo find_device_info(std::string_view name);
/// cuda:0 when there is one, otherwise the CPU.
Device best_device();

/// Whether some device of this machine can run the variant, with the reason when not.
struct Availability {
  bool available;
  std::string reason;
};
Availability availability(const Variant& variant);

/// Every op and variant with its state, as a table for people.
std::string dump();

}  // namespace einkorn
