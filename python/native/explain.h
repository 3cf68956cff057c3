#pragma once

#include <string>
#include <string_view>

namespace einkorn::python {

/// The variants of an op in order of preference, as JSON: [{id, name, language, summary,
/// batch_invariant, available, reason}]. ValueError: no such op.
std::string variants_json(std::string_view op);

/// As `einkorn explain --json`. ValueError: unknown op, key, device or variant.
std::string explain_json(std::string_view op, std::string_view problem, std::string_view device,
                         std::string_view variant);

}  // namespace einkorn::python
