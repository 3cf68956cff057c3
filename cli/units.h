#pragma once

#include <cstdint>

namespace einkorn::cli {

inline double mib(std::uint64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

}  // namespace einkorn::cli
