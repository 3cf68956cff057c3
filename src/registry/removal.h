#pragma once

#include <string_view>

namespace einkorn::detail {

/// Takes a variant that register_variant() added out of the registry; calls that have it go on with
/// it, later ones select anew. It has to stay in memory. ValueError: none of that id, or one of the
/// library's own lists.
void remove_variant(std::string_view id);

}  // namespace einkorn::detail
