#include "src/jit/digest.h"

#include <blake2.h>

#include <new>

#include <einkorn/error.h>

namespace einkorn::jit {
namespace {

constexpr std::size_t kBytes = std::tuple_size_v<decltype(Digest::bytes)>;

int value_of(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

void check(int result) { EK_ICHECK(result == 0, "BLAKE2b refused its arguments"); }

}  // namespace

std::string Digest::hex() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * kBytes);
  for (const std::uint8_t byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

std::optional<Digest> Digest::parse(std::string_view text) {
  if (text.size() != 2 * kBytes) return std::nullopt;
  Digest out;
  for (std::size_t i = 0; i < kBytes; ++i) {
    const int high = value_of(text[2 * i]);
    const int low = value_of(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.bytes[i] = static_cast<std::uint8_t>(16 * high + low);
  }
  return out;
}

Hasher::Hasher() {
  static_assert(sizeof(blake2b_state) <= sizeof(state_));
  check(blake2b_init(new (state_.data()) blake2b_state, kBytes));
}

void Hasher::add_raw(const void* data, std::size_t bytes) {
  auto* state = std::launder(reinterpret_cast<blake2b_state*>(state_.data()));
  check(blake2b_update(state, static_cast<const std::uint8_t*>(data), bytes));
}

Hasher& Hasher::add(std::string_view text) {
  add(std::uint64_t{text.size()});
  add_raw(text.data(), text.size());
  return *this;
}

Hasher& Hasher::add(std::uint64_t number) {
  add_raw(&number, sizeof(number));
  return *this;
}

Hasher& Hasher::add(const Digest& digest) {
  add_raw(digest.bytes.data(), kBytes);
  return *this;
}

Digest Hasher::finish() {
  Digest out;
  auto* state = std::launder(reinterpret_cast<blake2b_state*>(state_.data()));
  check(blake2b_final(state, out.bytes.data(), kBytes));
  return out;
}

Digest digest_of(std::span<const std::byte> bytes) {
  Digest out;
  check(blake2b(out.bytes.data(), bytes.data(), nullptr, kBytes, bytes.size(), 0));
  return out;
}

}  // namespace einkorn::jit
