#include "src/core/file.h"

#include <gtest/gtest.h>

#include "tests/unit/file_tree.h"

namespace einkorn {
namespace {

TEST(ReplaceFile, TakesThePlaceOfTheOldOneAndLeavesNothingElse) {
  const test::FileTree tree;
  const std::string path = tree.path("a/b/file.json");
  EXPECT_FALSE(replace_file(path, "one"));
  EXPECT_FALSE(replace_file(path, "two"));
  EXPECT_EQ(read_file(path).text, "two");
  EXPECT_EQ(tree.entries().size(), 1U);
  std::error_code ignored;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(tree.path("a/b"), ignored), {}), 1);
}

TEST(ReplaceFile, OnAnErrorTheOldFileStays) {
  const test::FileTree tree;
  const std::string path = tree.write("file", "old");
  EXPECT_EQ(replace_file(path + "/below", "new"), std::errc::not_a_directory);
  EXPECT_EQ(read_file(path).text, "old");
}

}  // namespace
}  // namespace einkorn
