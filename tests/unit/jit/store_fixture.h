#pragma once

#include <string>

#include "src/jit/store.h"
#include "tests/unit/file_tree.h"

namespace einkorn::jit {

/// An artifact whose image tells which it is.
inline Artifact numbered_artifact(int number, std::size_t bytes = 2000) {
  Artifact artifact;
  artifact.image.resize(bytes, static_cast<std::byte>(number));
  artifact.entries = {{"k", "k", {}}};
  artifact.compiler = "test";
  return artifact;
}

inline Digest numbered_key(int number) {
  return Hasher().add(static_cast<std::uint64_t>(number)).finish();
}

inline constexpr std::string_view kArch = "sm_90a";

inline std::string publish_numbered(Store& store, int number, std::size_t bytes = 2000) {
  KeyParts parts;
  parts.arch = kArch;
  return store.publish(numbered_key(number), kArch, numbered_artifact(number, bytes), parts);
}

inline std::string artifact_path(const Store& store, int number) {
  return entry_folder(store.root(), kArch, numbered_key(number)) + "/artifact.bin";
}

}  // namespace einkorn::jit
