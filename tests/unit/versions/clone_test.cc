#include "src/versions/clone.h"

#include <einkorn/error.h>
#include <gmock/gmock.h>

#include "tests/unit/versions/toy_tree.h"

namespace einkorn::versions {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

class CloneTest : public testing::Test {
 protected:
  CloneTest() { write_toy_tree(folder_); }
  SourceTree tree() const { return SourceTree(folder_.root().string()); }
  test::FileTree folder_{"clone"};
};

TEST_F(CloneTest, TakesTheNextVersionOfTheDesign) {
  const Clone clone = plan_clone(tree(), "toy/cpu/rows_v1", std::nullopt);
  EXPECT_EQ(clone.to.id(), "toy/cpu/rows_v3");
  ASSERT_EQ(clone.changes.size(), 2);
  EXPECT_EQ(clone.changes[0].path, "ops/math/toy/cpu/rows_v3.cc");
  EXPECT_FALSE(clone.changes[0].before);
  EXPECT_EQ(clone.changes[0].after,
            "// toy/cpu/rows_v3: slow.\n//\n// Changed since v1: nothing yet.\n\nextern const "
            "Variant rows_v3;\nconstexpr Variant rows_v3 = make_variant<ToyOp, RowsV3>(\"cpu\", "
            "\"rows\", 3, \"cpp\", \"x\");\n");
}

TEST_F(CloneTest, TakesAllFilesOfTheStem) {
  const Clone clone = plan_clone(tree(), "toy/cpu/rows_v2", 5);
  ASSERT_EQ(clone.changes.size(), 3);
  EXPECT_EQ(clone.changes[0].path, "ops/math/toy/cpu/rows_v5.cc");
  EXPECT_THAT(clone.changes[0].after, HasSubstr("Changed since v2: nothing yet."));
  EXPECT_THAT(clone.changes[0].after, Not(HasSubstr("unrolled")));
  EXPECT_EQ(clone.changes[1].path, "ops/math/toy/cpu/rows_v5.h");
  EXPECT_EQ(clone.changes[1].after, "#pragma once\nstruct RowsV5Task {};\n");
}

TEST_F(CloneTest, ItsLineStandsBehindTheOneCloned) {
  const Clone clone = plan_clone(tree(), "toy/cpu/rows_v2", std::nullopt);
  EXPECT_THAT(clone.changes.back().after,
              HasSubstr("EK_VARIANT(toy, cpu, rows, 2)\nEK_VARIANT(toy, cpu, rows, 3)\n"
                        "EK_VARIANT(toy, cpu, rows, 1)\n"));
}

TEST_F(CloneTest, ALineWithoutAnEndGetsOne) {
  const ListedVariant rows{"toy", "cpu", "rows", 1};
  const ListedVariant next{"toy", "cpu", "rows", 2};
  EXPECT_EQ(with_line("EK_VARIANT(toy, cpu, rows, 1)", &rows, next),
            "EK_VARIANT(toy, cpu, rows, 1)\nEK_VARIANT(toy, cpu, rows, 2)\n");
  EXPECT_EQ(with_line("EK_OP(toy)\n", nullptr, next),
            "EK_OP(toy)\nEK_VARIANT(toy, cpu, rows, 2)\n");
}

TEST_F(CloneTest, Refuses) {
  const auto clone = [&](std::string_view id, std::optional<int> version) {
    return [=, this] { plan_clone(tree(), id, version); };
  };
  EXPECT_THAT(clone("toy/cpu/rows_v1", 2),
              ThrowsMessage<Error>(HasSubstr("expected one newer than v2")));
  EXPECT_THAT(clone("toy/cpu/raws_v1", {}), ThrowsMessage<Error>(HasSubstr("did you mean")));
  EXPECT_THAT(
      clone("toy/sm90/ring_v1", {}),
      ThrowsMessage<Error>(HasSubstr("expected one make_variant<...>(\"sm90\", \"ring\", 1")));
  // rows_v21.cc is there, listed or not.
  EXPECT_THAT(clone("toy/cpu/rows_v1", 21),
              ThrowsMessage<Error>(HasSubstr("rows_v21.cc: expected no such file")));
}

TEST(ParseVersion, Forms) {
  EXPECT_EQ(parse_version("v12"), 12);
  EXPECT_EQ(parse_version("3"), 3);
  for (const char* text : {"", "v", "v0", "-1", "v1x", "2.0"}) {
    EXPECT_THROW(parse_version(text), Error) << text;
  }
}

}  // namespace
}  // namespace einkorn::versions
