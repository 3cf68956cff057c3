#include "src/jit/codec.h"

#include <limits>

#include <gtest/gtest.h>

namespace einkorn::jit {
namespace {

Writer written() {
  Writer out;
  out.put(std::string_view("text with a \0 in it", 19));
  out.put(std::int64_t{-5});
  out.put(2.5);
  out.put(std::vector<std::string>{"a", "", "ccc"});
  out.put(std::span<const std::byte>());
  return out;
}

TEST(Codec, RoundTrip) {
  const Writer out = written();
  Reader in(out.bytes());
  EXPECT_EQ(in.text(), std::string("text with a \0 in it", 19));
  EXPECT_EQ(in.number<std::int64_t>(), -5);
  EXPECT_EQ(in.number<double>(), 2.5);
  EXPECT_EQ(in.texts(), (std::vector<std::string>{"a", "", "ccc"}));
  EXPECT_TRUE(in.blob().empty());
  EXPECT_TRUE(in.at_end());
}

TEST(Codec, CutAnywhereItFailsAndReadsNothingOutside) {
  const Writer out = written();
  for (std::size_t length = 0; length < out.bytes().size(); ++length) {
    const std::vector<std::byte> cut(out.bytes().begin(),
                                     out.bytes().begin() + static_cast<std::ptrdiff_t>(length));
    Reader in(cut);
    in.text();
    in.number<std::int64_t>();
    in.number<double>();
    in.texts();
    in.blob();
    EXPECT_FALSE(in.at_end()) << length;
  }
}

TEST(Codec, ALengthBeyondTheBytesIsNoAllocation) {
  Writer out;
  out.put(std::numeric_limits<std::uint64_t>::max());
  for (const int what : {0, 1, 2}) {
    Reader in(out.bytes());
    const bool empty = what == 0   ? in.text().empty()
                       : what == 1 ? in.blob().empty()
                                   : in.texts().empty();
    EXPECT_TRUE(empty) << what;
    EXPECT_FALSE(in.ok());
  }
}

}  // namespace
}  // namespace einkorn::jit
