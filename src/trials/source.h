#pragma once

// What a variant is made of, as one digest: trials of a kernel that changed since are not used.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/trials/embedded.h"

namespace einkorn::trials {

/// Of host_source_digests() what decides a variant's plans: its own file, headers of its op and of
/// its op's family, for a CPU variant also src/cpu. Nothing for a variant of another library.
std::vector<EmbeddedFile> host_files(std::string_view variant);

/// 64 hexadecimal digits over
///  - each device source in `device_files` (embedded ones, or paths) with every header it reaches;
///  - host_files(), as they were when the library was built.
/// A variant whose host file is not in this library (a plugin's) is known by the build of the
/// shared object that `code`, the address of a function of it, lies in.
///
/// A device source that cannot be read makes the result empty, which no trial matches. Answers are
/// kept for the process.
std::string source_digest(std::string_view variant, std::span<const std::string> device_files,
                          const void* code);

}  // namespace einkorn::trials
