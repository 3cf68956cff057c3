// The op of examples/outside_op as a plugin: EINKORN_PLUGINS=<this shared object> gives it to every
// program of einkorn's, the command included.

#include "examples/outside_op/scale_add.h"

namespace {

void add(einkorn::PluginHost& host) {
  host.add_op(scale_add::kDefinition);
  host.add_variant(scale_add::kSimple);
}

}  // namespace

extern "C" const einkorn::Plugin* einkorn_plugin_v1() {
  static constexpr einkorn::Plugin kPlugin{.name = "scale_add", .add = add};
  return &kPlugin;
}
