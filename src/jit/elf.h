#pragma once

// The part of ELF that a cubin uses: sections and symbols of a 64-bit little-endian file in memory.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <einkorn/error.h>

namespace einkorn::jit {

inline constexpr std::string_view kDamagedHint =
    "the file is damaged or cut: remove it and compile again";

/// RuntimeError "cubin: <what>: expected <expected>, got <got>" and the hint.
[[noreturn]] void throw_bad_cubin(std::string_view what, std::string_view expected,
                                  std::string_view got, std::string_view hint = kDamagedHint);

/// Bytes [offset, offset + size) of `bytes`, which is `what` in the error when it ends before.
std::span<const std::byte> checked_slice(std::span<const std::byte> bytes, std::uint64_t offset,
                                         std::uint64_t size, std::string_view what);

/// A little-endian value at any alignment; the host is little-endian too.
template <class T>
T checked_read(std::span<const std::byte> bytes, std::uint64_t offset, std::string_view what) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, checked_slice(bytes, offset, sizeof(T), what).data(), sizeof(T));
  return value;
}

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t size = 0;            ///< bytes in memory; NOBITS sections have no bytes in the file
  std::uint32_t link = 0, info = 0;  ///< as the section's type defines them
  std::span<const std::byte> bytes;  ///< empty for NOBITS
};

struct ElfSymbol {
  std::string_view name;
  std::uint8_t info = 0;      ///< binding, and the type in the low 4 bits
  std::uint8_t other = 0;     ///< visibility, and bits of the machine's own
  std::uint16_t section = 0;  ///< index; 0 for undefined symbols
};

/// A view: the bytes must outlive it. Everything in it was checked to lie inside of the bytes.
class Elf {
 public:
  /// RuntimeError: not such a file, or a section or name that ends behind the last byte.
  explicit Elf(std::span<const std::byte> bytes);

  std::uint16_t machine() const { return machine_; }
  std::uint32_t flags() const { return flags_; }
  std::uint8_t abi_version() const { return abi_version_; }
  std::span<const ElfSection> sections() const { return sections_; }

  /// Null when there is none.
  const ElfSection* find(std::string_view name) const;

  /// In the file's order, which is how other sections refer to them. RuntimeError: a table of
  /// another form, or a name outside of its strings.
  std::vector<ElfSymbol> symbols() const;

 private:
  std::uint16_t machine_ = 0;
  std::uint32_t flags_ = 0;
  std::uint8_t abi_version_ = 0;
  std::vector<ElfSection> sections_;
};

}  // namespace einkorn::jit
