#include "src/versions/source_tree.h"

#include <einkorn/error.h>
#include <gmock/gmock.h>

#include "tests/unit/versions/toy_tree.h"

namespace einkorn::versions {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Property;
using testing::ThrowsMessage;

class SourceTreeTest : public testing::Test {
 protected:
  SourceTreeTest() { write_toy_tree(folder_); }
  test::FileTree folder_{"source_tree"};
};

TEST_F(SourceTreeTest, ReadsTheLists) {
  const SourceTree tree(folder_.root().string() + "/");
  ASSERT_EQ(tree.ops().size(), 1);
  EXPECT_EQ(tree.ops()[0].list(), "ops/math/toy/variants.inc");
  EXPECT_THAT(tree.arches(),
              ElementsAre(testing::FieldsAre("cpu", false), testing::FieldsAre("sm90", true)));
  EXPECT_THAT(tree.variants(tree.ops()[0]),
              ElementsAre(Property(&ListedVariant::id, "toy/sm90/ring_v1"),
                          Property(&ListedVariant::id, "toy/cpu/rows_v2"),
                          Property(&ListedVariant::id, "toy/cpu/rows_v1")));
}

TEST_F(SourceTreeTest, IsFoundFromInside) {
  EXPECT_EQ(SourceTree::around(folder_.path("ops/math/toy/cpu")).root(), folder_.root());
  EXPECT_THAT([] { SourceTree::around("/"); },
              ThrowsMessage<Error>(HasSubstr("expected a folder of einkorn's sources")));
  EXPECT_THAT([] { SourceTree("/"); },
              ThrowsMessage<Error>(HasSubstr("expected the root of einkorn's sources")));
}

TEST_F(SourceTreeTest, NamesTheNearest) {
  const SourceTree tree(folder_.root().string());
  EXPECT_EQ(tree.find_variant("toy/cpu/rows_v1").version, 1);
  EXPECT_THAT([&] { tree.find_variant("toy/cpu/row_v1"); },
              ThrowsMessage<Error>(HasSubstr("did you mean 'toy/cpu/rows_v1'?")));
  EXPECT_THAT([&] { tree.find_variant("toy"); }, ThrowsMessage<Error>(HasSubstr("got 'toy'")));
  EXPECT_THAT([&] { tree.find_op("toi"); }, ThrowsMessage<Error>(HasSubstr("did you mean 'toy'?")));
  EXPECT_THAT([&] { tree.find_arch("sm91"); }, ThrowsMessage<Error>(HasSubstr("'sm90'")));
}

TEST_F(SourceTreeTest, FilesOfAStem) {
  const SourceTree tree(folder_.root().string());
  EXPECT_THAT(tree.files_of_stem("ops/math/toy/cpu", "rows_v2"),
              ElementsAre("ops/math/toy/cpu/rows_v2.cc", "ops/math/toy/cpu/rows_v2.h"));
}

TEST_F(SourceTreeTest, AFolderThatIsNoCheckoutHasNoChangesToTell) {
  const SourceTree tree(folder_.root().string());
  // Git would otherwise find a checkout above the temporary folder, if there is one.
  const test::Variable ceiling("GIT_CEILING_DIRECTORIES", folder_.root().parent_path().string());
  EXPECT_THAT([&] { tree.changes(); }, ThrowsMessage<Error>(HasSubstr("expected a git checkout")));
}

}  // namespace
}  // namespace einkorn::versions
