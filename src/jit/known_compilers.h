#pragma once

// <root>/compilers/<name>/: by whom a store's artifacts were compiled. A key holds the compiler's
// exact identity, so where the compiler is not installed, as in an image that is shipped with a
// filled cache, the store has to say which identities are worth asking for.

#include <string>
#include <string_view>
#include <vector>

#include "src/jit/disk.h"

namespace einkorn::jit {

/// Identities under which compilers of that name published into the store, the latest to come
/// first.
std::vector<std::string> known_identities(std::string_view root, std::string_view compiler);

/// Keeps one that is not there yet. The reason when that is not possible.
std::string keep_identity(std::string_view root, std::string_view compiler,
                          const std::string& identity, const disk::Modes& modes);

}  // namespace einkorn::jit
