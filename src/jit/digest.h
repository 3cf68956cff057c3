#pragma once

// BLAKE2b with 256 bits (RFC 7693), for the keys and checksums of artifacts.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace einkorn::jit {

struct Digest {
  std::array<std::uint8_t, 32> bytes{};

  auto operator<=>(const Digest&) const = default;
  /// 64 lower-case hexadecimal digits.
  std::string hex() const;
  /// Nothing unless the text is one that hex() gives.
  static std::optional<Digest> parse(std::string_view text);
};

/// Takes in a sequence of values; two sequences give one digest only if they are equal. Texts are
/// preceded by their length, so that no text can imitate a boundary.
class Hasher {
 public:
  Hasher();
  ~Hasher() = default;
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  Hasher& add(std::string_view text);
  Hasher& add(std::uint64_t number);
  Hasher& add(const Digest& digest);
  Digest finish();

 private:
  void add_raw(const void* data, std::size_t bytes);

  // The library's state, 64-byte aligned as it asks for.
  alignas(64) std::array<std::byte, 512> state_;
};

/// Of the bytes alone, without their length.
Digest digest_of(std::span<const std::byte> bytes);

}  // namespace einkorn::jit
