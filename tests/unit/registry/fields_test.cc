// One declaration of fields gives parsing, printing, hashing and listing; texts are golden.

#include <einkorn/fields.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/golden.h"

namespace einkorn {
namespace test_fields {

enum class Colour : std::uint8_t { kRed, kGreen, kBlue };

struct Everything {
  std::int64_t rows = 4;
  int small = -1;
  std::uint32_t count = 7;
  bool flag = false;
  double scale = 1.5;
  float ratio = 0.5F;
  DType dtype = kBF16;
  std::optional<DType> weight;
  Colour colour = Colour::kGreen;

  bool operator==(const Everything&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("rows", &Everything::rows, "how many rows", 0, 1048576),
                      field("small", &Everything::small, "no bounds given"),
                      field("count", &Everything::count, "at least one", 1),
                      field("flag", &Everything::flag, "on or off"),
                      field("scale", &Everything::scale, "a positive number", 0x1p-126, 100),
                      field("ratio", &Everything::ratio, "any number"),
                      field("dtype", &Everything::dtype, "of x"),
                      field("weight", &Everything::weight, "of the weight, or none"),
                      field("colour", &Everything::colour, "of the bikeshed")};
  }
};

}  // namespace test_fields

template <>
struct EnumNames<test_fields::Colour> {
  static constexpr std::array<std::string_view, 3> kNames{"red", "green", "blue"};
};

namespace {

using test_fields::Colour;
using test_fields::Everything;

Everything parse(std::string_view text) {
  return parse_fields<Everything>("op", split_key_values(text));
}

Everything sample() {
  Everything out;
  out.rows = 1048576;
  out.small = -2147483647;
  out.count = 4294967295U;
  out.flag = true;
  out.scale = 0.1;
  out.ratio = -0.1F;
  out.dtype = kF8E4M3;
  out.weight = kF32;
  out.colour = Colour::kBlue;
  return out;
}

TEST(Fields, NothingGivenGivesTheDefaults) { EXPECT_EQ(parse(""), Everything{}); }

TEST(Fields, PrintedAndParsedAgainIsTheSame) {
  EXPECT_EQ(parse(print_fields(sample())), sample());
  EXPECT_EQ(parse(print_fields(Everything{}, 99)), Everything{});
  const Everything none = parse("weight=none");
  EXPECT_FALSE(none.weight.has_value());
}

TEST(Fields, PrintLeavesDefaultsOut) {
  EXPECT_EQ(print_fields(Everything{}), "");
  EXPECT_EQ(print_fields(Everything{}, 2), "rows=4 small=-1");
  Everything one;
  one.colour = Colour::kRed;
  EXPECT_EQ(print_fields(one, 1), "rows=4 colour=red");
  EXPECT_EQ(print_fields(one, 0, one), "");
  EXPECT_EQ(print_fields(sample()),
            "rows=1048576 small=-2147483647 count=4294967295 flag=true scale=0.1 ratio=-0.1 "
            "dtype=f8e4m3 weight=f32 colour=blue");
}

TEST(Fields, BooleansHaveFourSpellings) {
  for (const char* yes : {"true", "1", "yes", "on"}) {
    EXPECT_TRUE(parse(std::string("flag=") + yes).flag) << yes;
  }
  for (const char* no : {"false", "0", "no", "off"}) {
    EXPECT_FALSE(parse(std::string("flag=") + no).flag) << no;
  }
}

TEST(Fields, BoundsAreInclusive) {
  EXPECT_EQ(parse("rows=0").rows, 0);
  EXPECT_EQ(parse("rows=1048576").rows, 1048576);
  EXPECT_EQ(parse("scale=100").scale, 100);
  EXPECT_EQ(parse("count=1").count, 1U);
}

TEST(Fields, NothingIsCutToTheMembersType) {
  EXPECT_EQ(parse("small=2147483647").small, std::numeric_limits<int>::max());
  EXPECT_THROW(parse("small=2147483648"), Error);
  EXPECT_THROW(parse("small=-2147483649"), Error);
  EXPECT_THROW(parse("count=4294967296"), Error);
}

TEST(Fields, ErrorTexts) {
  test::GoldenErrors errors("errors/fields.txt");
  errors.add("unknown key, near", [] { parse("row=4"); });
  errors.add("unknown key, far", [] { parse("frobnicate=4"); });
  errors.add("below", [] { parse("rows=-1"); });
  errors.add("above", [] { parse("rows=1048577"); });
  errors.add("not an integer", [] { parse("rows=4x"); });
  errors.add("empty value", [] { parse("rows="); });
  errors.add("past 64 bits", [] { parse("rows=99999999999999999999"); });
  errors.add("past the member's type", [] { parse("small=2147483648"); });
  errors.add("lower bound only", [] { parse("count=0"); });
  errors.add("not a number", [] { parse("scale=big"); });
  errors.add("NaN", [] { parse("scale=nan"); });
  errors.add("number out of range", [] { parse("scale=0"); });
  errors.add("not a bool", [] { parse("flag=maybe"); });
  errors.add("unknown dtype", [] { parse("dtype=bf61"); });
  errors.add("unknown optional dtype", [] { parse("weight=f31"); });
  errors.add("unknown enum value", [] { parse("colour=grean"); });
  errors.add("no equals sign", [] { parse("rows"); });
  errors.add("no key", [] { parse("=4"); });
  errors.add("given twice", [] { parse("rows=4 colour=red rows=5"); });
}

TEST(Fields, SplitAtBlanks) {
  const KeyValues pairs = split_key_values("  a=1\tb=x=y \n c= ");
  EXPECT_EQ(pairs, (KeyValues{{"a", "1"}, {"b", "x=y"}, {"c", ""}}));
  EXPECT_TRUE(split_key_values(" \n").empty());
}

TEST(Fields, DescribeGivesOneRowAField) {
  std::string text;
  for (const Key& key : describe_fields<Everything>()) {
    text += key.name + " | " + key.type + " | " + key.allowed + " | " + key.default_value + " | " +
            key.doc + "\n";
  }
  test::expect_golden("fields/describe.txt", text);
}

TEST(Fields, EqualValuesHashAlikeAndEachFieldCounts) {
  EXPECT_EQ(hash_fields(sample()), hash_fields(sample()));
  std::set<std::size_t> hashes{hash_fields(Everything{})};
  for (const char* change :
       {"rows=5", "rows=6", "small=0", "count=8", "flag=true", "scale=2", "ratio=1", "dtype=f16",
        "weight=f32", "weight=f64", "colour=red", "colour=blue"}) {
    EXPECT_TRUE(hashes.insert(hash_fields(parse(change))).second) << change;
  }
}

TEST(Fields, HashesOfNearbyProblemsSpread) {
  std::set<std::size_t> low_bits;
  for (int rows = 0; rows < 1000; ++rows) {
    Everything one;
    one.rows = rows;
    low_bits.insert(hash_fields(one) % 1024);
  }
  // 1000 balls into 1024 bins leave about 1024 * (1 - 1/e) = 638 of them filled.
  EXPECT_GT(low_bits.size(), 550U);
}

TEST(Fields, NamesOfEnums) {
  EXPECT_EQ(name(Colour::kRed), "red");
  EXPECT_EQ(name(Colour::kBlue), "blue");
}

}  // namespace
}  // namespace einkorn
