#pragma once

#include <span>
#include <string_view>

namespace einkorn::jit {

/// One device source or device header, compiled into the library as text.
struct EmbeddedSource {
  std::string_view path;  ///< Relative to the repository root, e.g. "ops/norm/rms_norm/params.h".
  std::string_view text;  ///< The whole file; a NUL follows it, which is not part of the text.
};

/// All of them, sorted by path (bytewise), each path once. The storage is static.
std::span<const EmbeddedSource> embedded_sources();

}  // namespace einkorn::jit
