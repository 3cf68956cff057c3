#pragma once

#include <span>

namespace einkorn::cli {

/// Becomes `python3 -m einkorn.port` with these arguments; returns never. RuntimeError: no Python.
int port(std::span<char*> arguments);

}  // namespace einkorn::cli
