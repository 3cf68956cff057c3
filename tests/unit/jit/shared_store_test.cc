// One root, several users: each in a process of its own, with nothing but its rights.

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/warning.h"
#include "src/jit/cache_root.h"
#include "src/jit/key_lock.h"
#include "src/jit/store_upkeep.h"
#include "tests/unit/jit/service_fixture.h"
#include "tests/unit/other_user.h"

namespace einkorn::jit {
namespace {

using std::chrono::milliseconds;
using test::kOneUser;
using test::kOtherUser;
using test::passes_as;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class SharedStoreTest : public ServiceTest {
 protected:
  void SetUp() override {
    if (!test::may_change_user()) GTEST_SKIP() << "only user 0 can act as other users";
    ASSERT_EQ(chmod(scratch_.root().c_str(), 0755), 0);
    make_root(01777, 0, 0);
  }
  void make_root(mode_t mode, uid_t owner, gid_t group) {
    std::filesystem::remove_all(root_);
    ASSERT_EQ(mkdir(root_.c_str(), 0700), 0);
    ASSERT_EQ(chown(root_.c_str(), owner, group), 0);
    ASSERT_EQ(chmod(root_.c_str(), mode), 0);
  }
  StoreOptions trusting() const { return {.root = root_, .trust = true}; }

  /// What each of two users does to the store of the other; a umask that closes all to others.
  void publish_as_one() const {
    umask(0077);
    Store store(trusting());
    EXPECT_EQ(publish_numbered(store, 1), "");
    EXPECT_EQ(store.set_dependencies(numbered_key(1), {"/a"}), "");
    EXPECT_TRUE(KeyLock(store.lock_file(), numbered_key(1), milliseconds(0)).held());
  }
  void use_as_other() const {
    umask(0077);
    Store store(trusting());
    EXPECT_NE(store.lookup(numbered_key(1), kArch).artifact, nullptr);
    EXPECT_THAT(store.dependencies(numbered_key(1)), testing::Optional(testing::ElementsAre("/a")));
    EXPECT_EQ(publish_numbered(store, 2), "");
    EXPECT_EQ(publish_numbered(store, 1), "") << "it is there already, which is as good";
    EXPECT_EQ(store.set_dependencies(numbered_key(1), {"/a"}), "");
    EXPECT_TRUE(KeyLock(store.lock_file(), numbered_key(1), milliseconds(0)).held());
    EXPECT_THAT(verify_store(root_), IsEmpty());
    EXPECT_EQ(list_entries(root_).size(), 2u);
  }

  std::string root_ = scratch_.path("shared");
};

TEST_F(SharedStoreTest, AllUsersShareATrustedRootThatAllMayWriteTo) {
  ASSERT_TRUE(passes_as(kOneUser, [&] { publish_as_one(); }));
  ASSERT_TRUE(passes_as(kOtherUser, [&] { use_as_other(); }));
  EXPECT_TRUE(passes_as(kOneUser, [&] {
    Store store(trusting());
    EXPECT_NE(store.lookup(numbered_key(2), kArch).artifact, nullptr);
    EXPECT_THAT(verify_store(root_), IsEmpty());
  }));
}

TEST_F(SharedStoreTest, ADamagedEntryThatIsAnothersToRemoveIsTold) {
  ASSERT_TRUE(passes_as(kOneUser, [&] {
    publish_as_one();
    Store store(trusting());
    std::filesystem::resize_file(artifact_path(store, 1), 100);
  }));
  EXPECT_TRUE(passes_as(kOtherUser, [&] {
    std::string warning;
    set_warning_handler([&](const std::string& text) { warning = text; });
    Store store(trusting());
    EXPECT_THAT(store.lookup(numbered_key(1), kArch).reason,
                HasSubstr("; could not be moved to quarantine: "));
    EXPECT_THAT(warning, HasSubstr("is damaged and in the way"));
    set_warning_handler({});
  }));
}

TEST_F(SharedStoreTest, AGroupSharesATrustedRootOfItsOwn) {
  constexpr gid_t kGroup = 65'532;
  make_root(02770, kOneUser, kGroup);
  ASSERT_TRUE(passes_as(kOneUser, kGroup, [&] { publish_as_one(); }));
  ASSERT_TRUE(passes_as(kOtherUser, kGroup, [&] { use_as_other(); }));
  EXPECT_TRUE(passes_as(kOtherUser, kGroup, [&] {
    EXPECT_EQ(collect_garbage(root_, 1).removed, 2u) << "also of the other user";
  }));
  EXPECT_TRUE(passes_as(kOtherUser, [&] {
    EXPECT_THAT(use_of_root(root_, kOtherUser, true).refused, HasSubstr("Permission denied"));
  }));
}

TEST_F(SharedStoreTest, WithoutTrustTheFoldersOfAnOpenRootAreClosed) {
  ASSERT_TRUE(passes_as(kOneUser, [&] {
    Store store(StoreOptions{.root = root_});
    EXPECT_EQ(publish_numbered(store, 1), "");
  }));
  for (const auto& at : std::filesystem::recursive_directory_iterator(root_)) {
    EXPECT_EQ(static_cast<unsigned>(at.status().permissions()) & 0077U, 0u) << at.path();
  }
}

TEST_F(SharedStoreTest, ArtifactsOfOthersAreNotLoadedWithoutTrust) {
  ASSERT_TRUE(passes_as(kOneUser, [&] { publish_as_one(); }));
  const auto is_not_loaded = [&] {
    Store store(StoreOptions{.root = root_});
    EXPECT_EQ(store.lookup(numbered_key(1), kArch).reason,
              "not loaded: it belongs to user 65534, expected " + std::to_string(geteuid()) +
                  " (EINKORN_CACHE_TRUST=1 loads it)");
    EXPECT_EQ(store.dependencies(numbered_key(1)), std::nullopt);
  };
  EXPECT_TRUE(passes_as(kOtherUser, is_not_loaded));
  is_not_loaded();  // as user 0
}

TEST_F(SharedStoreTest, RootsOfOthersAreRefusedWithoutTrust) {
  make_root(0755, kOneUser, kOneUser);
  EXPECT_TRUE(passes_as(kOtherUser, [&] {
    EXPECT_EQ(use_of_root(root_, kOtherUser, false).refused,
              "it belongs to user 65534, expected 65533");
  }));
}

TEST_F(SharedStoreTest, WhatCannotBeReadIsNotTakenForEmpty) {
  ASSERT_TRUE(passes_as(kOneUser, [&] {
    Store store(StoreOptions{.root = root_});  // closes its folders
    EXPECT_EQ(publish_numbered(store, 1), "");
  }));
  EXPECT_TRUE(passes_as(kOtherUser, [&] {
    const std::vector<Unsound> bad = verify_store(root_);
    ASSERT_EQ(bad.size(), 1u);
    EXPECT_EQ(bad[0].path, root_ + "/v1");
    EXPECT_EQ(bad[0].reason, "cannot be read: Permission denied");
    EXPECT_EQ(look_over(root_).unreadable.size(), 1u);
  }));
}

// As in the image of a container that a build made as root and that runs as somebody else.
TEST_F(SharedStoreTest, ARootOfUser0IsReadWithoutTrust) {
  make_root(0755, 0, 0);
  {
    Store store(StoreOptions{.root = root_, .trust = true});
    ASSERT_EQ(publish_numbered(store, 1), "");
  }
  EXPECT_TRUE(passes_as(kOtherUser, [&] {
    const RootUse use = use_of_root(root_, kOtherUser, false);
    EXPECT_EQ(use.refused, "");
    EXPECT_EQ(use.read_only, "Permission denied");
    Store store(StoreOptions{.root = root_, .read_only = use.read_only});
    EXPECT_NE(store.lookup(numbered_key(1), kArch).artifact, nullptr);
    EXPECT_EQ(publish_numbered(store, 2), "Permission denied");
    EXPECT_THAT(verify_store(root_), IsEmpty());
  }));
  ASSERT_EQ(chmod(root_.c_str(), 0777), 0);
  EXPECT_TRUE(passes_as(kOtherUser, [&] {
    EXPECT_THAT(use_of_root(root_, kOtherUser, false).refused, StartsWith("others may write"));
  }));
}

TEST_F(SharedStoreTest, ARootOfOnesOwnThatIsClosedToWritingIsRead) {
  make_root(0700, kOneUser, kOneUser);
  EXPECT_TRUE(passes_as(kOneUser, [&] {
    Settings own = settings();
    own.cache_dir = root_;
    make(own)->answer(inputs(), "", nullptr);
    ASSERT_EQ(chmod(root_.c_str(), 0500), 0);
    EXPECT_EQ(use_of_root(root_, kOneUser, false).read_only, "Permission denied");
    own.mode = Mode::kCacheOnly;
    EXPECT_NE(make(own)->answer(inputs(), "", nullptr), nullptr);
  }));
}

TEST_F(SharedStoreTest, BehindAReadOnlyFolderTheNextTakesWhatIsNew) {
  const std::string fixed = scratch_.path("fixed/einkorn");
  Settings writing = settings();
  writing.cache_dir = fixed;
  make(writing)->answer(inputs("// baked"), "", nullptr);
  for (const auto& at : std::filesystem::recursive_directory_iterator(scratch_.path("fixed"))) {
    ASSERT_EQ(chmod(at.path().c_str(), at.is_directory() ? 0755 : 0644), 0);
  }
  ASSERT_EQ(mkdir(scratch_.path("home").c_str(), 0700), 0);
  ASSERT_EQ(chown(scratch_.path("home").c_str(), kOtherUser, kOtherUser), 0);
  const test::Variable cache("XDG_CACHE_HOME", scratch_.path("fixed"));
  const test::Variable home("HOME", scratch_.path("home"));
  EXPECT_TRUE(passes_as(kOtherUser, [&] {
    const CacheRoot found = find_cache_root({}, /*make=*/true);
    EXPECT_EQ(found.path, scratch_.path("home/.cache/einkorn"));
    EXPECT_EQ(found.read_only, "");
    EXPECT_THAT(found.also_read, testing::ElementsAre(fixed));
    const int before = first_.compiles;
    EXPECT_NE(make(Settings{})->answer(inputs("// baked"), "", nullptr), nullptr);
    EXPECT_EQ(first_.compiles, before);
    for (int process = 0; process < 2; ++process) {
      EXPECT_NE(make(Settings{})->answer(inputs("// new"), "", nullptr), nullptr);
    }
    EXPECT_EQ(first_.compiles, before + 1);
  }));
}

}  // namespace
}  // namespace einkorn::jit
