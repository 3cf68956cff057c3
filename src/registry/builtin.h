#pragma once

#include <vector>

#include <einkorn/registry.h>

namespace einkorn::detail {

/// What the lists under ops/ name, in their order, each op with its reference last.
std::vector<OpEntry> builtin_ops();

}  // namespace einkorn::detail
