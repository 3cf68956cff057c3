#pragma once

#include <einkorn/registry.h>

namespace einkorn::detail {

/// Loads what EINKORN_PLUGINS names and lets each add itself; false when it names none.
/// RuntimeError naming the path and the loader's reason, or what does not fit.
bool load_plugins(PluginHost& host);

}  // namespace einkorn::detail
