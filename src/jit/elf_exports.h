#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace einkorn::jit {

/// Names that a shared object in memory gives to those who load it, sorted. RuntimeError: the bytes
/// are no 64-bit little-endian ELF file, or damaged.
std::vector<std::string> exported_symbols(std::span<const std::byte> object);

}  // namespace einkorn::jit
