#include "src/jit/codec.h"

namespace einkorn::jit {

void Writer::append(const void* data, std::size_t count) {
  if (count == 0) return;
  const std::size_t at = bytes_.size();
  bytes_.resize(at + count);
  std::memcpy(bytes_.data() + at, data, count);
}

void Writer::put(std::string_view text) { put(std::as_bytes(std::span(text))); }

void Writer::put(std::span<const std::byte> bytes) {
  put(std::uint64_t{bytes.size()});
  append(bytes.data(), bytes.size());
}

void Writer::put(const std::vector<std::string>& texts) {
  put(std::uint64_t{texts.size()});
  for (const std::string& text : texts) put(text);
}

std::span<const std::byte> Reader::take(std::size_t bytes) {
  if (!ok_ || bytes > rest_.size()) {
    ok_ = false;
    return {};
  }
  const std::span<const std::byte> taken = rest_.first(bytes);
  rest_ = rest_.subspan(bytes);
  return taken;
}

std::size_t Reader::count(std::size_t least) {
  const auto value = number<std::uint64_t>();
  if (value > rest_.size() / least) ok_ = false;
  return ok_ ? static_cast<std::size_t>(value) : 0;
}

std::string Reader::text() {
  const std::span<const std::byte> at = take(count());
  return {reinterpret_cast<const char*>(at.data()), at.size()};
}

std::vector<std::byte> Reader::blob() {
  const std::span<const std::byte> at = take(count());
  return {at.begin(), at.end()};
}

std::vector<std::string> Reader::texts() {
  std::vector<std::string> out(count(sizeof(std::uint64_t)));
  for (std::string& one : out) one = text();
  return ok_ ? out : std::vector<std::string>();
}

}  // namespace einkorn::jit
