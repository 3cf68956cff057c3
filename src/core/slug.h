#pragma once

#include <string>
#include <string_view>

namespace einkorn {

/// A name as part of a file's: letters and digits in lower case, one underscore for all between
/// them. "NVIDIA H100 80GB HBM3" gives "nvidia_h100_80gb_hbm3", nothing "unknown".
std::string slug(std::string_view name);

}  // namespace einkorn
