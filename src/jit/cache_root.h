#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace einkorn::jit {

/// Made if need be, mode 0700. Empty when artifacts may be loaded from the folder and written to
/// it, otherwise why not: not a folder, of another user, writable by others, read-only, no space.
/// With `trust`, owner and mode do not matter.
std::string cannot_use_root(const std::string& root, uid_t owner, bool trust);

}  // namespace einkorn::jit
