#include "src/jit/store_upkeep.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/jit/store_fixture.h"

namespace einkorn::jit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// As `du` counts, by none of the store's own functions.
std::uint64_t bytes_on_disk(const std::string& path) {
  const auto blocks = [](const std::string& one) {
    struct stat info{};
    EXPECT_EQ(lstat(one.c_str(), &info), 0) << one;
    return 512 * static_cast<std::uint64_t>(info.st_blocks);
  };
  std::uint64_t sum = blocks(path);
  for (const auto& at : std::filesystem::recursive_directory_iterator(path)) {
    sum += blocks(at.path().string());
  }
  return sum;
}

void make_old(const std::string& path, std::time_t seconds) {
  const std::time_t then = std::time(nullptr) - seconds;
  const timespec times[2] = {{then, 0}, {then, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0) << path;
}

class StoreUpkeepTest : public testing::Test {
 protected:
  std::string in_store(const std::string& name) const { return store_.root() + "/v1/" + name; }
  std::string entry(int number, std::string_view arch = kArch) const {
    return entry_folder(store_.root(), arch, numbered_key(number));
  }

  test::FileTree scratch_;
  Store store_{StoreOptions{.root = scratch_.path("root")}};
};

TEST_F(StoreUpkeepTest, TenThousandKernelsStayWithinTheCap) {
  constexpr std::uint64_t kCap = 16'000'000;
  Store small(StoreOptions{.root = scratch_.path("capped"), .max_bytes = kCap});
  std::uint64_t largest = 0;
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(publish_numbered(small, i, 500), "");
    ASSERT_EQ(small.set_dependencies(numbered_key(i), {"/usr/include/stdio.h"}), "");
    if (i % 500 == 0) largest = std::max(largest, bytes_on_disk(small.root() + "/v1"));
  }
  EXPECT_LE(largest, kCap);
  EXPECT_LE(bytes_on_disk(small.root() + "/v1"), kCap);
  EXPECT_NE(small.lookup(numbered_key(9'999), kArch).artifact, nullptr) << "the newest is kept";
  EXPECT_EQ(small.lookup(numbered_key(0), kArch).reason, "miss") << "the oldest is gone";
}

TEST_F(StoreUpkeepTest, TheLongestUnusedGoFirst) {
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(publish_numbered(store_, i), "");
    const timespec old[2] = {{1'000'000 + i, 0}, {1'000'000 + i, 0}};
    utimensat(AT_FDCWD, artifact_path(store_, i).c_str(), old, 0);
  }
  ASSERT_NE(store_.lookup(numbered_key(0), kArch).artifact, nullptr);  // used now
  const std::uint64_t total = bytes_on_disk(store_.root() + "/v1");
  const Collected done = collect_garbage(store_.root(), total / 2);
  EXPECT_GT(done.removed, 4u);
  EXPECT_EQ(done.left, bytes_on_disk(store_.root() + "/v1"));
  EXPECT_LE(done.left, total / 2);
  EXPECT_NE(store_.lookup(numbered_key(0), kArch).artifact, nullptr);
  EXPECT_EQ(store_.lookup(numbered_key(1), kArch).reason, "miss");
  EXPECT_NE(store_.lookup(numbered_key(9), kArch).artifact, nullptr);
}

TEST_F(StoreUpkeepTest, WhatKilledPublishersLeaveIsSweptAfterAnHour) {
  ASSERT_EQ(publish_numbered(store_, 1), "");
  const std::string fresh = store_.root() + "/v1/tmp/fresh";
  const std::string old = store_.root() + "/v1/tmp/old";
  std::filesystem::create_directory(fresh);
  std::filesystem::create_directory(old);
  const timespec two_hours_ago[2] = {{time(nullptr) - 7200, 0}, {time(nullptr) - 7200, 0}};
  utimensat(AT_FDCWD, old.c_str(), two_hours_ago, 0);
  collect_garbage(store_.root(), 1 << 30);
  EXPECT_TRUE(std::filesystem::exists(fresh));
  EXPECT_FALSE(std::filesystem::exists(old));
}

TEST_F(StoreUpkeepTest, ClearRemovesAll) {
  ASSERT_EQ(publish_numbered(store_, 1), "");
  EXPECT_EQ(clear_store(store_.root()), "");
  EXPECT_THAT(list_entries(store_.root()), IsEmpty());
  EXPECT_EQ(store_.lookup(numbered_key(1), kArch).reason, "miss");
}

TEST_F(StoreUpkeepTest, AllThatTakesRoomIsCounted) {
  for (int i = 0; i < 20; ++i) ASSERT_EQ(publish_numbered(store_, i), "");
  ASSERT_EQ(store_.set_dependencies(numbered_key(1), {"/a"}), "");
  std::filesystem::resize_file(artifact_path(store_, 2), 100);
  ASSERT_EQ(store_.lookup(numbered_key(2), kArch).artifact, nullptr);  // to quarantine
  scratch_.write("root/v1/tmp/9-dead/artifact.bin", std::string(3'000'000, 'x'));
  scratch_.write("root/v1/trash-9/artifact.bin", std::string(100'000, 'x'));
  static_cast<void>(store_.lock_file());
  const StoreContent content = look_over(store_.root());
  EXPECT_EQ(content.bytes, bytes_on_disk(store_.root() + "/v1"));
  EXPECT_EQ(content.entries.size(), 19u);
  EXPECT_EQ(content.dependencies.size(), 1u);
  EXPECT_EQ(content.quarantined.size(), 1u);
  EXPECT_THAT(content.leftovers, UnorderedElementsAre(in_store("tmp/9-dead"), in_store("trash-9")));
}

TEST_F(StoreUpkeepTest, WithoutRoomNothingIsLeftButFoldersLockAndSize) {
  for (int i = 0; i < 12; ++i) {
    ASSERT_EQ(publish_numbered(store_, i), "");
    ASSERT_EQ(store_.set_dependencies(numbered_key(i), {"/a"}), "");
  }
  const std::string lock = store_.lock_file();
  const Collected done = collect_garbage(store_.root(), 1);
  EXPECT_EQ(done.removed, 12u);
  EXPECT_EQ(done.left, bytes_on_disk(store_.root() + "/v1"));
  std::vector<std::string> files;
  for (const auto& at : std::filesystem::recursive_directory_iterator(store_.root())) {
    if (!at.is_directory()) files.push_back(at.path().string());
  }
  EXPECT_THAT(files, UnorderedElementsAre(lock, in_store("size")));
  EXPECT_TRUE(std::filesystem::is_empty(in_store("deps"))) << "empty folders go as well";
}

TEST_F(StoreUpkeepTest, DependenciesThatAreReadStay) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(store_.set_dependencies(numbered_key(i), {"/a"}), "");
    const std::string hex = numbered_key(i).hex();
    make_old(in_store("deps/" + hex.substr(0, 2) + "/" + hex), 1000 + i);
  }
  ASSERT_TRUE(store_.dependencies(numbered_key(19)));  // used now
  collect_garbage(store_.root(), bytes_on_disk(store_.root() + "/v1") / 2);
  EXPECT_TRUE(store_.dependencies(numbered_key(19)));
  EXPECT_FALSE(store_.dependencies(numbered_key(18)));
}

TEST_F(StoreUpkeepTest, TheFirstPublicationOfAProcessSweeps) {
  scratch_.write("root/v1/tmp/9-dead/artifact.bin", std::string(3'000'000, 'x'));
  scratch_.write("root/v1/tmp/9-file", "x");
  scratch_.write("root/v1/tmp/9-fresh/artifact.bin", "x");
  scratch_.write("root/v1/quarantine/9/artifact.bin", "x");
  scratch_.write("root/v1/trash-9/artifact.bin", "x");
  for (const char* old : {"tmp/9-dead", "tmp/9-file", "quarantine/9", "trash-9"}) {
    make_old(in_store(old), 3 * 24 * 3600);
  }
  ASSERT_EQ(publish_numbered(store_, 1), "");
  const StoreContent content = look_over(store_.root());
  EXPECT_THAT(content.leftovers, ElementsAre(in_store("tmp/9-fresh")));
  EXPECT_THAT(content.quarantined, IsEmpty());
  EXPECT_EQ(content.entries.size(), 1u);
}

TEST_F(StoreUpkeepTest, ADamagedEntryCanBeLookedAtForAnHour) {
  ASSERT_EQ(publish_numbered(store_, 1), "");
  std::filesystem::resize_file(artifact_path(store_, 1), 100);
  make_old(entry(1), 3 * 24 * 3600);
  ASSERT_EQ(store_.lookup(numbered_key(1), kArch).artifact, nullptr);
  Store next(StoreOptions{.root = store_.root()});
  ASSERT_EQ(publish_numbered(next, 1), "");
  const StoreContent content = look_over(store_.root());
  ASSERT_EQ(content.quarantined.size(), 1u);
  make_old(content.quarantined[0], 3 * 24 * 3600);
  Store later(StoreOptions{.root = store_.root()});
  ASSERT_EQ(publish_numbered(later, 2), "");
  EXPECT_THAT(look_over(store_.root()).quarantined, IsEmpty());
}

TEST_F(StoreUpkeepTest, WhatIsLeftOfAnEntryIsNotInTheWay) {
  ASSERT_EQ(publish_numbered(store_, 1), "");
  std::filesystem::remove(artifact_path(store_, 1));
  const std::vector<Unsound> bad = verify_store(store_.root());
  ASSERT_EQ(bad.size(), 1u);
  EXPECT_EQ(bad[0].reason, "artifact.bin is missing");
  ASSERT_EQ(publish_numbered(store_, 1), "");
  EXPECT_NE(store_.lookup(numbered_key(1), kArch).artifact, nullptr);
  EXPECT_THAT(verify_store(store_.root()), IsEmpty());
}

TEST_F(StoreUpkeepTest, VerifyFindsWhatIsUnsoundAndItCanBeRemoved) {
  for (int i = 0; i < 7; ++i) ASSERT_EQ(publish_numbered(store_, i), "");
  std::filesystem::resize_file(artifact_path(store_, 1), 100);
  scratch_.write("root" + entry(2).substr(store_.root().size()) + "/meta.json", "{}");
  std::filesystem::remove(entry(3) + "/meta.json");
  std::filesystem::copy_file(entry(5) + "/meta.json", entry(4) + "/meta.json",
                             std::filesystem::copy_options::overwrite_existing);
  // A sound one below another arch.
  std::filesystem::create_directories(std::filesystem::path(entry(5, "sm_80")).parent_path());
  std::filesystem::rename(entry(5), entry(5, "sm_80"));
  std::filesystem::resize_file(artifact_path(store_, 6), 100);
  ASSERT_EQ(store_.lookup(numbered_key(6), kArch).artifact, nullptr);  // to quarantine

  std::vector<std::string> found;
  for (const Unsound& one : verify_store(store_.root())) {
    const std::string name = std::filesystem::path(one.path).filename().string();
    found.push_back(name.substr(0, 8) + ": " + one.reason.substr(0, 30));
  }
  const auto begins = [](int number) { return numbered_key(number).hex().substr(0, 8) + ": "; };
  EXPECT_THAT(found, UnorderedElementsAre(HasSubstr(begins(1) + "damaged: "),
                                          begins(2) + "meta.json has another form",
                                          HasSubstr(begins(3) + "meta.json cannot be read: No"),
                                          HasSubstr(begins(4) + "meta.json is of another key"),
                                          begins(5) + "it is for sm_90a",
                                          begins(6) + "found damaged by a reader"));
  const Collected done = remove_unsound(store_.root());
  EXPECT_EQ(done.removed, 5u);
  EXPECT_GT(done.freed, 0u);
  EXPECT_EQ(done.left, bytes_on_disk(store_.root() + "/v1"));
  EXPECT_THAT(verify_store(store_.root()), IsEmpty());
  EXPECT_EQ(list_entries(store_.root()).size(), 1u);
}

}  // namespace
}  // namespace einkorn::jit
