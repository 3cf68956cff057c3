// A store that can be read and not written.

#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/warning.h"
#include "src/jit/cache_root.h"
#include "src/jit/store_upkeep.h"
#include "tests/unit/jit/service_fixture.h"

namespace einkorn::jit {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

/// The folder once more, at another place, where nothing can be written; gone with this.
class ReadOnlyView {
 public:
  ReadOnlyView(const std::string& folder, std::string place) : place_(std::move(place)) {
    std::filesystem::create_directory(place_);
    mounted_ = mount(folder.c_str(), place_.c_str(), nullptr, MS_BIND, nullptr) == 0;
    there_ = mounted_ && mount(nullptr, place_.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY,
                               nullptr) == 0;
    if (!there_) reason_ = std::strerror(errno);
  }
  ~ReadOnlyView() {
    if (mounted_) umount(place_.c_str());
  }
  ReadOnlyView(const ReadOnlyView&) = delete;
  ReadOnlyView& operator=(const ReadOnlyView&) = delete;

  bool there() const { return there_; }
  const std::string& reason() const { return reason_; }

 private:
  std::string place_, reason_;
  bool mounted_ = false, there_ = false;
};

class ReadOnlyStoreTest : public ServiceTest {
 protected:
  ReadOnlyStoreTest() {
    set_warning_handler([this](const std::string& text) { warnings_.push_back(text); });
  }
  ~ReadOnlyStoreTest() override { set_warning_handler({}); }

  std::vector<std::string> warnings_;
};

TEST_F(ReadOnlyStoreTest, HitsAreServedAndNothingIsPublished) {
  first_.on_disk = true;  // so that dependencies are asked for, too
  const auto baked = make()->answer(inputs(), "", nullptr);
  const ReadOnlyView view(settings().cache_dir, scratch_.path("fixed"));
  if (!view.there()) GTEST_SKIP() << "no folder can be mounted here: " << view.reason();
  Settings fixed = settings();
  fixed.cache_dir = scratch_.path("fixed");

  const CacheRoot found = find_cache_root(fixed, /*make=*/true);
  EXPECT_EQ(found.path, fixed.cache_dir);
  EXPECT_EQ(found.read_only, "Read-only file system");
  EXPECT_EQ(find_cache_root(fixed, /*make=*/false).path, fixed.cache_dir);

  fixed.mode = Mode::kCacheOnly;
  EXPECT_EQ(make(fixed)->answer(inputs(), "", nullptr)->image, baked->image);
  EXPECT_THAT(warnings_, IsEmpty()) << "all is well as long as it serves";

  fixed.mode = Mode::kOn;
  const auto service = make(fixed);
  Trace trace;
  EXPECT_NE(service->answer(inputs("// new"), "", &trace), nullptr);
  EXPECT_NE(service->answer(inputs("// newer"), "", nullptr), nullptr);
  EXPECT_THAT(steps(trace),
              Contains("store: not published: only read from: Read-only file system"));
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(warnings_[0], HasSubstr("the cache " + fixed.cache_dir + " is only read from"));
  EXPECT_EQ(list_entries(fixed.cache_dir).size(), 1u);
  EXPECT_THAT(verify_store(fixed.cache_dir), IsEmpty());
}

TEST_F(ReadOnlyStoreTest, ADamagedArtifactIsCompiledAndStaysWhereItIs) {
  const auto artifact = make()->answer(inputs(), "", nullptr);
  const Digest key = Digest::parse(artifact->key).value_or(Digest{});
  std::filesystem::resize_file(entry_folder(settings().cache_dir, "sm_90a", key) + "/artifact.bin",
                               40);
  const ReadOnlyView view(settings().cache_dir, scratch_.path("fixed"));
  if (!view.there()) GTEST_SKIP() << "no folder can be mounted here: " << view.reason();
  Settings fixed = settings();
  fixed.cache_dir = scratch_.path("fixed");
  Trace trace;
  EXPECT_EQ(make(fixed)->answer(inputs(), "", &trace)->image, artifact->image);
  EXPECT_THAT(steps(trace)[1],
              HasSubstr("could not be moved to quarantine: Read-only file system"));
  EXPECT_THAT(warnings_, Contains(HasSubstr("is damaged and in the way")));
  EXPECT_EQ(verify_store(fixed.cache_dir).size(), 1u);
}

}  // namespace
}  // namespace einkorn::jit
