#include "src/jit/digest.h"

#include <gtest/gtest.h>

namespace einkorn::jit {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// The values that Python's hashlib.blake2b(text, digest_size=32) gives.
TEST(Digest, IsBlake2b) {
  EXPECT_EQ(digest_of(bytes_of("")).hex(),
            "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  EXPECT_EQ(digest_of(bytes_of("abc")).hex(),
            "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

TEST(Digest, TextForm) {
  const Digest digest = digest_of(bytes_of("abc"));
  EXPECT_EQ(Digest::parse(digest.hex()), digest);
  EXPECT_FALSE(Digest::parse(digest.hex().substr(1)));
  EXPECT_FALSE(Digest::parse(digest.hex() + "0"));
  std::string upper = digest.hex();
  upper[0] = 'B';
  EXPECT_FALSE(Digest::parse(upper));
  EXPECT_FALSE(Digest::parse(std::string(64, 'g')));
}

TEST(Hasher, TextsDoNotRunIntoOneAnother) {
  EXPECT_NE(Hasher().add("ab").add("c").finish(), Hasher().add("a").add("bc").finish());
  EXPECT_NE(Hasher().add("").add("a").finish(), Hasher().add("a").add("").finish());
  EXPECT_EQ(Hasher().add("ab").add("c").finish(), Hasher().add("ab").add("c").finish());
}

}  // namespace
}  // namespace einkorn::jit
