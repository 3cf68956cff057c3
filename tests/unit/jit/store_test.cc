#include "src/jit/store.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/file.h"
#include "src/jit/cache_root.h"
#include "src/jit/meta.h"
#include "src/jit/store_upkeep.h"
#include "tests/unit/jit/store_fixture.h"

namespace einkorn::jit {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class StoreTest : public testing::Test {
 protected:
  test::FileTree scratch_;
  Store store_{StoreOptions{.root = scratch_.path("root")}};
};

TEST_F(StoreTest, WhatIsPublishedIsFound) {
  EXPECT_EQ(store_.lookup(numbered_key(1), kArch).reason, "miss");
  KeyParts parts;
  parts.compiler = "c";
  parts.files = {{"k.cu", numbered_key(9)}};
  ASSERT_EQ(store_.publish(numbered_key(1), kArch, numbered_artifact(1), parts), "");
  const Store::Found found = store_.lookup(numbered_key(1), kArch);
  ASSERT_NE(found.artifact, nullptr) << found.reason;
  EXPECT_EQ(found.artifact->image, numbered_artifact(1).image);
  EXPECT_EQ(store_.lookup(numbered_key(1), "sm_80").reason, "miss");

  const auto meta = parse_meta(
      read_file(entry_folder(store_.root(), kArch, numbered_key(1)) + "/meta.json").text);
  ASSERT_TRUE(meta);
  EXPECT_EQ(meta->key, numbered_key(1).hex());
  EXPECT_EQ(meta->parts.compiler, "c");
  EXPECT_EQ(meta->parts.files, parts.files);
}

TEST_F(StoreTest, TheFirstPublisherWinsAndTheLoserSucceeds) {
  ASSERT_EQ(publish_numbered(store_, 1), "");
  ASSERT_EQ(store_.publish(numbered_key(1), kArch, numbered_artifact(2), {}), "");
  EXPECT_EQ(store_.lookup(numbered_key(1), kArch).artifact->image, numbered_artifact(1).image);
  EXPECT_TRUE(std::filesystem::is_empty(store_.root() + "/v1/tmp"));
}

TEST_F(StoreTest, FoldersAreClosedToOthers) {
  ASSERT_EQ(publish_numbered(store_, 1), "");
  for (const auto& at : std::filesystem::recursive_directory_iterator(store_.root())) {
    EXPECT_EQ(at.status().permissions() &
                  (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
              std::filesystem::perms::none)
        << at.path();
  }
}

TEST_F(StoreTest, DamagedEntriesAreMovedAsideAndPublishedAgain) {
  const auto damage = [&](int number, auto&& how) {
    ASSERT_EQ(publish_numbered(store_, number), "");
    how(artifact_path(store_, number));
    EXPECT_THAT(store_.lookup(numbered_key(number), kArch).reason,
                testing::AllOf(StartsWith("damaged: "), HasSubstr("; moved to quarantine")));
    EXPECT_EQ(store_.lookup(numbered_key(number), kArch).reason, "miss");
    ASSERT_EQ(publish_numbered(store_, number), "");
    EXPECT_NE(store_.lookup(numbered_key(number), kArch).artifact, nullptr);
  };
  damage(1, [](const std::string& path) { truncate(path.c_str(), 100); });
  damage(2, [](const std::string& path) { truncate(path.c_str(), 0); });
  damage(3, [](const std::string& path) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(500);
    file.put('x');
  });
  damage(4, [&](const std::string& path) {  // of another key, moved here
    Store other(StoreOptions{.root = scratch_.path("other")});
    ASSERT_EQ(publish_numbered(other, 5), "");
    std::filesystem::copy_file(artifact_path(other, 5), path,
                               std::filesystem::copy_options::overwrite_existing);
  });
  EXPECT_EQ(verify_store(store_.root()).size(), 4u);  // the quarantined ones
}

TEST_F(StoreTest, AnArtifactThatOthersMayWriteToIsNotLoaded) {
  ASSERT_EQ(publish_numbered(store_, 1), "");
  chmod(artifact_path(store_, 1).c_str(), 0666);
  EXPECT_THAT(store_.lookup(numbered_key(1), kArch).reason,
              StartsWith("not loaded: others may write to it, mode 0666"));
  EXPECT_TRUE(std::filesystem::exists(artifact_path(store_, 1))) << "it is theirs to remove";
}

TEST_F(StoreTest, ALinkInPlaceOfAnArtifactIsNotFollowed) {
  ASSERT_EQ(publish_numbered(store_, 1), "");
  const std::string path = artifact_path(store_, 1);
  std::filesystem::rename(path, path + ".real");
  std::filesystem::create_symlink(path + ".real", path);
  EXPECT_EQ(store_.lookup(numbered_key(1), kArch).artifact, nullptr);
}

TEST_F(StoreTest, ARootDeletedWhileInUseIsMadeAgain) {
  ASSERT_EQ(publish_numbered(store_, 1), "");
  std::filesystem::remove_all(store_.root());
  EXPECT_EQ(store_.lookup(numbered_key(1), kArch).reason, "miss");
  ASSERT_EQ(publish_numbered(store_, 1), "");
  EXPECT_NE(store_.lookup(numbered_key(1), kArch).artifact, nullptr);
}

TEST_F(StoreTest, ARootThatCannotBeWrittenIsToldWithItsReason) {
  Store nowhere(StoreOptions{.root = "/proc/einkorn"});
  EXPECT_THAT(publish_numbered(nowhere, 1), Not(IsEmpty()));
  scratch_.write("file", "");
  Store in_a_file(StoreOptions{.root = scratch_.path("file/root")});
  EXPECT_THAT(publish_numbered(in_a_file, 1), HasSubstr("Not a directory"));
}

// A file system of its own with room for a few artifacts; needs root.
TEST_F(StoreTest, AFullFileSystemLeavesNothingBehind) {
  const std::string root = scratch_.path("small");
  std::filesystem::create_directory(root);
  if (mount("einkorn-test", root.c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "no tmpfs can be mounted here: " << std::strerror(errno);
  }
  {
    Store small(StoreOptions{.root = root});
    std::string reason;
    int published = 0;
    while (reason.empty() && published < 100) reason = publish_numbered(small, published++, 20000);
    EXPECT_THAT(reason, HasSubstr("No space left"));
    EXPECT_NE(small.lookup(numbered_key(0), kArch).artifact, nullptr);
    EXPECT_EQ(small.lookup(numbered_key(published - 1), kArch).reason, "miss");
    EXPECT_TRUE(std::filesystem::is_empty(root + "/v1/tmp"));
    EXPECT_THAT(verify_store(root), IsEmpty());
  }
  umount(root.c_str());
}

TEST_F(StoreTest, DependenciesAreReplacedWhole) {
  EXPECT_EQ(store_.dependencies(numbered_key(1)), std::nullopt);
  ASSERT_EQ(store_.set_dependencies(numbered_key(1), {}), "");
  EXPECT_THAT(store_.dependencies(numbered_key(1)), testing::Optional(IsEmpty()));
  ASSERT_EQ(store_.set_dependencies(numbered_key(1), {"/a", "/b"}), "");
  ASSERT_EQ(store_.set_dependencies(numbered_key(1), {"/c"}), "");
  EXPECT_THAT(store_.dependencies(numbered_key(1)), testing::Optional(testing::ElementsAre("/c")));
}

// Publishes the same keys over and over until it is killed; writes a byte for the first.
[[noreturn]] void publish_for_ever(const std::string& root, unsigned seed, int published) {
  Store store(StoreOptions{.root = root});
  std::mt19937 random(seed);
  for (bool first = true;; first = false) {
    const int number = static_cast<int>(random() % 20);
    publish_numbered(store, number, 20000);
    if (first && write(published, "p", 1) != 1) _exit(1);
    if (random() % 4 == 0) collect_garbage(root, 100'000);
  }
}

TEST_F(StoreTest, AThousandKillsAndNoReaderEverSeesABadArtifact) {
  std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): repeatable
  int found = 0;
  for (int kill_number = 0; kill_number < 1000; ++kill_number) {
    int published[2];
    ASSERT_EQ(pipe(published), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      publish_for_ever(store_.root(), static_cast<unsigned>(kill_number), published[1]);
    }
    // On a slow machine most die before they have published anything; some may live so long.
    char byte = 0;
    if (kill_number % 10 == 0) {
      ASSERT_EQ(read(published[0], &byte, 1), 1);
    }
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 4000);
    do {  // reads while the other writes
      const int number = static_cast<int>(random() % 20);
      const Store::Found one = store_.lookup(numbered_key(number), kArch);
      if (one.artifact == nullptr) {
        ASSERT_EQ(one.reason, "miss") << "kill " << kill_number;
      } else {
        ASSERT_EQ(one.artifact->image, numbered_artifact(number, 20000).image);
        ++found;
      }
    } while (std::chrono::steady_clock::now() < until);
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    close(published[0]);
    close(published[1]);
  }
  EXPECT_GT(found, 100);
  EXPECT_THAT(verify_store(store_.root()), IsEmpty());
}

std::string refused(const std::string& root, uid_t owner, bool trust) {
  return use_of_root(root, owner, trust).refused;
}

TEST(CacheRoot, MadePrivate) {
  const test::FileTree scratch;
  const std::string root = scratch.path("a/b/cache");
  EXPECT_EQ(refused(root, geteuid(), false), "");
  struct stat info{};
  ASSERT_EQ(stat(root.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
}

TEST(CacheRoot, ThatOthersWriteOrOwnIsNotUsed) {
  const test::FileTree scratch;
  const std::string root = scratch.path("cache");
  ASSERT_EQ(mkdir(root.c_str(), 0700), 0);
  EXPECT_EQ(refused(root, geteuid(), false), "");
  if (geteuid() != 0) {  // a folder of user 0 is everybody's, see shared_store_test.cc
    EXPECT_THAT(refused(root, geteuid() + 1, false), StartsWith("it belongs to user"));
  }
  EXPECT_EQ(refused(root, geteuid() + 1, true), "");
  chmod(root.c_str(), 0777);
  EXPECT_EQ(refused(root, geteuid(), false), "others may write to it (mode 0777, expected 0700)");
  EXPECT_EQ(refused(root, geteuid(), true), "");
  scratch.write("file", "");
  EXPECT_EQ(refused(scratch.path("file"), geteuid(), false), "it is not a folder");
  EXPECT_THAT(refused("/proc/einkorn", geteuid(), false), Not(IsEmpty()));
}

}  // namespace
}  // namespace einkorn::jit
