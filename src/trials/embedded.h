#pragma once

// What the build compiled into the library for this layer.

#include <span>
#include <string_view>

namespace einkorn::trials {

struct EmbeddedFile {
  std::string_view path;  ///< relative to the repository root
  std::string_view text;
};

/// ops/<family>/<op>/tunings/<device>.json, sorted by path. The storage is static.
std::span<const EmbeddedFile> embedded_tunings();

/// Host sources of ops and the CPU headers that they share, sorted by path; `text` is a digest of
/// the file, 16 hexadecimal digits.
std::span<const EmbeddedFile> host_source_digests();

}  // namespace einkorn::trials
