#include "src/versions/scaffold.h"

#include <einkorn/error.h>
#include <gmock/gmock.h>

#include "tests/unit/versions/toy_tree.h"

namespace einkorn::versions {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

class ScaffoldTest : public testing::Test {
 protected:
  ScaffoldTest() { write_toy_tree(folder_); }
  SourceTree tree() const { return SourceTree(folder_.root().string()); }
  test::FileTree folder_{"scaffold"};
};

TEST_F(ScaffoldTest, ANewOpHasEveryFileAndALine) {
  const Scaffold made = plan_op(tree(), "math/soft_plus");
  EXPECT_EQ(made.name, "soft_plus");
  ASSERT_EQ(made.changes.size(), 8);
  for (const FileChange& change : made.changes) {
    EXPECT_THAT(change.after, Not(HasSubstr("@"))) << change.path;
    if (change.path == "ops/variants.inc") continue;
    EXPECT_FALSE(change.before);
    EXPECT_TRUE(change.path.starts_with("ops/math/soft_plus/")) << change.path;
  }
  EXPECT_THAT(made.changes[0].after, HasSubstr("struct SoftPlus {"));
  EXPECT_EQ(made.changes.back().after,
            "// every op\n#include \"ops/math/soft_plus/variants.inc\"\n"
            "#include \"ops/math/toy/variants.inc\"\n");
}

TEST_F(ScaffoldTest, ANewVariantIsNamedAsItsContractSays) {
  const Scaffold cpu = plan_variant(tree(), "toy/cpu/split_kv");
  ASSERT_EQ(cpu.changes.size(), 2);
  EXPECT_EQ(cpu.changes[0].path, "ops/math/toy/cpu/split_kv_v1.cc");
  EXPECT_THAT(cpu.changes[0].after, HasSubstr("make_variant<ToyOp, SplitKvV1>(\"cpu\""));
  EXPECT_TRUE(cpu.changes[1].after.ends_with("EK_VARIANT(toy, cpu, split_kv, 1)\n"));
  const Scaffold cuda = plan_variant(tree(), "toy/sm90/tiles");
  ASSERT_EQ(cuda.changes.size(), 3);
  EXPECT_EQ(cuda.changes[1].path, "ops/math/toy/sm90/tiles_v1.cu");
  EXPECT_THAT(cuda.changes[1].after, HasSubstr("__global__ void tiles_v1("));
}

TEST_F(ScaffoldTest, Refuses) {
  const auto op = [&](std::string_view name) { return [=, this] { plan_op(tree(), name); }; };
  const auto variant = [&](std::string_view name) {
    return [=, this] { plan_variant(tree(), name); };
  };
  EXPECT_THAT(op("soft_plus"), ThrowsMessage<Error>(HasSubstr("expected <family>/<name>")));
  EXPECT_THAT(op("math/toy"), ThrowsMessage<Error>(HasSubstr("that is not taken")));
  for (const char* name :
       {"math/Soft", "math/soft-plus", "math/2soft", "math/", "math/a__b", "../x", "math/soft_"}) {
    EXPECT_THAT(op(name), ThrowsMessage<Error>(HasSubstr("expected a snake_case word"))) << name;
  }
  EXPECT_THAT(variant("toy/cpu"), ThrowsMessage<Error>(HasSubstr("<op>/<arch>/<design>")));
  EXPECT_THAT(variant("toi/cpu/a"), ThrowsMessage<Error>(HasSubstr("did you mean 'toy'?")));
  EXPECT_THAT(variant("toy/gpu/a"), ThrowsMessage<Error>(HasSubstr("arch: expected one of")));
  EXPECT_THAT(variant("toy/cpu/rows"),
              ThrowsMessage<Error>(HasSubstr("einkorn clone toy/cpu/rows_v2")));
}

}  // namespace
}  // namespace einkorn::versions
