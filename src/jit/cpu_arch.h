#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace einkorn::jit {

/// What code for this CPU is compiled for, a name that -march= takes: "x86-64-v3", the highest of
/// the x86-64 levels whose instructions CPU and system both support; "armv8-a" on AArch64;
/// "generic" elsewhere, which stands for no -march at all.
std::string_view cpu_arch();

/// Why code for `arch` does not run on this CPU, or nothing; nothing as well for names that tell no
/// level, such as "znver3".
std::optional<std::string> cannot_run(std::string_view arch);

}  // namespace einkorn::jit
