#pragma once

// Configurations and slots as texts, for Python: what decides is in the library.

#include <string>
#include <string_view>

namespace einkorn::python {

/// A configuration in the form that the functions below take: JSON {rules: [{op, choice, where}],
/// modules: [{pattern, where, rules}]}. `form` is "toml", "json" or "environment", which takes no
/// text. ValueError: another form; as OpConfig's functions.
std::string read_config(std::string_view form, std::string_view text);

/// As OpConfig::check().
void check_config(std::string_view config);

/// As resolve(), for a device of this machine: bindings_json().
///   requests  JSON [{path, op, problem: {key: value} or null, scalars: {name: value}}]; those that
///             a slot always passes are scalars, which complete a problem where they are keys of it
/// RuntimeError also for a device that is not here.
std::string resolve_slots(std::string_view config, std::string_view requests,
                          std::string_view device);

/// dump() of what resolve_slots() gave.
std::string dump_bindings(std::string_view bindings);

/// Whether a pattern of a configuration's modules fits a path.
bool pattern_fits(std::string_view pattern, std::string_view path);

}  // namespace einkorn::python
