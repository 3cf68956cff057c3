#pragma once

// What an artifact is and what its key was made of, as JSON beside it: for people, for `cache` and
// for `jit explain-key`. Loading never reads it.

#include <optional>
#include <string>
#include <string_view>

#include "src/jit/inputs.h"

namespace einkorn::jit {

struct Meta {
  std::string key;
  KeyParts parts;
  std::string compiler;  ///< for people: "nvrtc 13.0"
  double compile_ms = 0;
  std::vector<EntryPoint> entries;
  std::string created;  ///< "2026-01-31T23:59:59Z"
};

std::string meta_text(const Digest& key, const Artifact& artifact, const KeyParts& parts);

/// Nothing when the text is not what meta_text() gives.
std::optional<Meta> parse_meta(std::string_view text);

}  // namespace einkorn::jit
