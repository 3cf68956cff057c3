#pragma once

// Values as bytes and back, for artifact files and for the talk with compile workers.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace einkorn::jit {

class Writer {
 public:
  void put(std::string_view text);
  void put(std::span<const std::byte> bytes);
  void put(const std::vector<std::string>& texts);
  template <class T>
    requires(std::integral<T> || std::floating_point<T>)
  void put(T value) {
    append(&value, sizeof(value));
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  void append(const void* data, std::size_t count);

  std::vector<std::byte> bytes_;
};

/// Reads what a Writer wrote, in the same order. Whatever the bytes, nothing outside them is
/// touched: after the first value that is not there, every further one is empty and ok() is false.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::string text();
  std::vector<std::byte> blob();
  std::vector<std::string> texts();
  template <class T>
    requires(std::integral<T> || std::floating_point<T>)
  T number() {
    T value{};
    const std::span<const std::byte> at = take(sizeof(T));
    if (ok_) std::memcpy(&value, at.data(), sizeof(T));
    return value;
  }
  /// A count of things that take at least `least` bytes each; fails when they cannot be there.
  std::size_t count(std::size_t least = 1);

  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && rest_.empty(); }

 private:
  std::span<const std::byte> take(std::size_t bytes);

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace einkorn::jit
