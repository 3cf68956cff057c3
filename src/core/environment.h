#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace einkorn {

/// Value of an environment variable; empty when it is unset, which nothing here tells from empty.
std::string environment(const char* name);

/// The parts of a list such as PATH's, separated by ':'; empty ones are left out.
std::vector<std::string> split_list(std::string_view text);

/// $TMPDIR, or /tmp.
std::string temporary_root();

}  // namespace einkorn
