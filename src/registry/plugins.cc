#include "src/registry/plugins.h"

#include <dlfcn.h>

#include <string>
#include <string_view>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/environment.h"

namespace einkorn::detail {
namespace {

constexpr const char* kEntry = "einkorn_plugin_v1";

void load_one(const std::string& path, PluginHost& host) {
  // Never closed: the registry keeps pointers into the object for the life of the process.
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    throw_error(ErrorKind::kRuntime,
                fmt::format("EINKORN_PLUGINS: {}: expected a loadable shared object, got: {}\n"
                            "  hint: paths are separated by ':'; correct or unset the variable",
                            path, reason != nullptr ? reason : "no reason given"));
  }
  void* symbol = dlsym(handle, kEntry);
  EK_CHECK(symbol != nullptr, ErrorKind::kRuntime,
           fmt::format("EINKORN_PLUGINS: {}: expected a function {}, got none\n"
                       "  hint: export it with extern \"C\"",
                       path, kEntry));
  const auto entry = reinterpret_cast<const Plugin* (*)()>(symbol);
  const Plugin* plugin = entry();
  EK_CHECK(
      plugin != nullptr && plugin->add != nullptr, ErrorKind::kRuntime,
      fmt::format("EINKORN_PLUGINS: {}: expected a Plugin with an add function, got none", path));
  EK_CHECK(
      plugin->op_size == sizeof(OpDef) && plugin->variant_size == sizeof(Variant),
      ErrorKind::kRuntime,
      fmt::format("EINKORN_PLUGINS: {}: expected a plugin for this einkorn (layouts {}/{}), got "
                  "one for layouts {}/{}\n  hint: rebuild it against these headers",
                  path, sizeof(OpDef), sizeof(Variant), plugin->op_size, plugin->variant_size));
  plugin->add(host);
}

}  // namespace

bool load_plugins(PluginHost& host) {
  const std::string paths = environment("EINKORN_PLUGINS");
  for (const std::string& path : split_list(paths)) load_one(path, host);
  return !paths.empty();
}

}  // namespace einkorn::detail
