#include "src/jit/artifact_file.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace einkorn::jit {
namespace {

// The last digit is the version of the format.
constexpr std::string_view kMagic = "EKORNA01";

// Magic, length of the content, its digest.
constexpr std::size_t kHead = kMagic.size() + sizeof(std::uint64_t) + sizeof(Digest::bytes);

/// Copies to `at` and gives the place behind it.
std::byte* put(std::byte* at, const void* data, std::size_t bytes) {
  std::memcpy(at, data, bytes);
  return at + bytes;
}

void write_entry(Writer& out, const EntryPoint& entry) {
  out.put(std::string_view(entry.expression));
  out.put(std::string_view(entry.lowered));
  out.put(entry.resources.registers);
  out.put(entry.resources.static_smem);
  out.put(entry.resources.stack_bytes);
  out.put(entry.resources.spill_stores);
  out.put(entry.resources.spill_loads);
}

EntryPoint read_entry(Reader& in) {
  EntryPoint entry;
  entry.expression = in.text();
  entry.lowered = in.text();
  entry.resources.registers = in.number<int>();
  entry.resources.static_smem = in.number<std::int64_t>();
  entry.resources.stack_bytes = in.number<std::int64_t>();
  entry.resources.spill_stores = in.number<std::int64_t>();
  entry.resources.spill_loads = in.number<std::int64_t>();
  return entry;
}

}  // namespace

void write_artifact(Writer& out, const Artifact& artifact) {
  out.put(static_cast<int>(artifact.target));
  out.put(std::span(artifact.image));
  out.put(std::uint64_t{artifact.entries.size()});
  for (const EntryPoint& entry : artifact.entries) write_entry(out, entry);
  out.put(std::string_view(artifact.log));
  out.put(std::string_view(artifact.compiler));
  out.put(artifact.compile_ms);
}

Artifact read_artifact(Reader& in) {
  Artifact artifact;
  artifact.target = static_cast<Target>(in.number<int>());
  artifact.image = in.blob();
  artifact.entries.resize(in.count(2 * sizeof(std::uint64_t)));
  for (EntryPoint& entry : artifact.entries) entry = read_entry(in);
  artifact.log = in.text();
  artifact.compiler = in.text();
  artifact.compile_ms = in.number<double>();
  return artifact;
}

std::vector<std::byte> pack_artifact(const Digest& key, const Artifact& artifact) {
  Writer content;
  content.put(std::as_bytes(std::span(key.bytes)));
  write_artifact(content, artifact);
  const std::uint64_t length = content.bytes().size();
  const Digest checksum = digest_of(content.bytes());
  std::vector<std::byte> out(kHead + length);
  std::byte* at = put(out.data(), kMagic.data(), kMagic.size());
  at = put(at, &length, sizeof(length));
  at = put(at, checksum.bytes.data(), checksum.bytes.size());
  put(at, content.bytes().data(), length);
  return out;
}

Unpacked unpack_artifact(const Digest& key, std::span<const std::byte> file) {
  if (file.size() < kHead) {
    return {nullptr, fmt::format("{} bytes, a head has {}", file.size(), kHead)};
  }
  if (std::memcmp(file.data(), kMagic.data(), kMagic.size()) != 0) {
    return {nullptr, "not an artifact of this format"};
  }
  std::uint64_t length = 0;
  std::memcpy(&length, file.data() + kMagic.size(), sizeof(length));
  const std::span<const std::byte> content = file.subspan(kHead);
  if (content.size() != length) {
    return {nullptr, fmt::format("{} bytes of content, its head says {}", content.size(), length)};
  }
  const Digest checksum = digest_of(content);
  if (std::memcmp(file.data() + kMagic.size() + sizeof(length), checksum.bytes.data(),
                  checksum.bytes.size()) != 0) {
    return {nullptr, "its checksum does not fit its content"};
  }
  Reader in(content);
  const std::vector<std::byte> stored = in.blob();
  if (!std::ranges::equal(stored, std::as_bytes(std::span(key.bytes)))) {
    return {nullptr, "the artifact of another key"};
  }
  auto artifact = std::make_shared<Artifact>(read_artifact(in));
  if (!in.at_end()) return {nullptr, "its content has another form"};
  artifact->key = key.hex();
  return {std::move(artifact), {}};
}

}  // namespace einkorn::jit
