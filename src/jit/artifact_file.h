#pragma once

// The file of one artifact: magic, length, checksum, content.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <einkorn/jit.h>

#include "src/jit/codec.h"
#include "src/jit/digest.h"

namespace einkorn::jit {

/// The content without head: also what a compile worker answers.
void write_artifact(Writer& out, const Artifact& artifact);
Artifact read_artifact(Reader& in);

std::vector<std::byte> pack_artifact(const Digest& key, const Artifact& artifact);

/// The artifact, or why the bytes are not the artifact of that key: too short, another format,
/// damaged, of another key.
struct Unpacked {
  std::shared_ptr<const Artifact> artifact;
  std::string reason;
};
Unpacked unpack_artifact(const Digest& key, std::span<const std::byte> file);

}  // namespace einkorn::jit
