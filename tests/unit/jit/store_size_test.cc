#include "src/jit/store_size.h"

#include <sys/stat.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "src/jit/store.h"
#include "src/jit/store_content.h"
#include "src/jit/store_upkeep.h"
#include "tests/unit/jit/store_fixture.h"

namespace einkorn::jit {
namespace {

class StoreSize : public testing::Test {
 protected:
  StoreSize() { tree_.write("v1/lock"); }
  std::string root() const { return tree_.root().string(); }

  const test::FileTree tree_;
};

TEST_F(StoreSize, IsWhatWasFoundAndAdded) {
  EXPECT_EQ(kept_size(root()), std::nullopt);
  add_to_size(root(), 5);  // to nothing that is known
  EXPECT_EQ(kept_size(root()), std::nullopt);
  keep_size(root(), 1000);
  EXPECT_EQ(kept_size(root()), 1000u);
  add_to_size(root(), 30);
  add_to_size(root(), 2);
  EXPECT_EQ(kept_size(root()), 1032u);
  keep_size(root(), 7);
  EXPECT_EQ(kept_size(root()), 7u);
}

TEST_F(StoreSize, IsWalkedForAgain) {
  keep_size(root(), 1000, 5'000'000);
  EXPECT_EQ(kept_size(root(), 5'000'000 + 24 * 3600), 1000u);
  EXPECT_EQ(kept_size(root(), 5'000'001 + 24 * 3600), std::nullopt);
  EXPECT_EQ(kept_size(root(), 4'999'999), std::nullopt) << "a clock that was set back";
  for (const char* damaged : {"", "walked", "walked 1", "walked 5000000 ", "walked 5000000 10",
                              "walked 5000000 10\n2", "10\n", "walked 5000000 10\nwalked 1 2\n"}) {
    tree_.write("v1/size", damaged);
    EXPECT_EQ(kept_size(root(), 5'000'000), std::nullopt) << damaged;
  }
  keep_size(root(), 1);
  for (int i = 0; i < 40'000 && kept_size(root()); ++i) add_to_size(root(), 1);
  EXPECT_EQ(kept_size(root()), std::nullopt) << "long";
}

TEST_F(StoreSize, HasTheModeOfWhoSharesTheStore) {
  const std::string folder = tree_.path("v1");
  ASSERT_EQ(chmod(folder.c_str(), 01777), 0);
  keep_size(root(), 1);
  struct stat info{};
  ASSERT_EQ(stat(tree_.path("v1/size").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0666u);
}

TEST(StoreSizeOfAStore, IsThatOfTheDisk) {
  const test::FileTree tree;
  const std::string root = tree.path("cache");
  std::filesystem::create_directory(root);
  Store first({.root = root}), second({.root = root});
  const auto publish = [&](Store& store, int number) {
    const Digest key = numbered_key(number);
    EXPECT_EQ(store.publish(key, "sm_90a", numbered_artifact(number), {}), "");
  };
  for (int i = 0; i < 12; ++i) publish(i % 2 == 0 ? first : second, i);
  const std::uint64_t walked = look_over(root).bytes;
  ASSERT_TRUE(kept_size(root));
  // A new folder between is counted by a walk only.
  EXPECT_NEAR(static_cast<double>(kept_size(root).value_or(0)), static_cast<double>(walked),
              64 << 10);
  collect_garbage(root, walked / 2);
  EXPECT_EQ(kept_size(root), look_over(root).bytes);
}

}  // namespace
}  // namespace einkorn::jit
