#pragma once

// Things a user should know that are no error: said once each, on standard error by default.

#include <functional>
#include <string>
#include <string_view>

namespace einkorn {

using WarningHandler = std::function<void(const std::string& message)>;

/// Takes all later warnings; empty: back to "einkorn: warning: ..." on standard error. Called under
/// a lock, from any thread; it must not warn itself.
void set_warning_handler(WarningHandler handler);

/// Says it unless the same text was said before in this process.
void warn_once(std::string_view message);

}  // namespace einkorn
