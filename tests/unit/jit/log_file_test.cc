#include "src/jit/log_file.h"
#include "tests/unit/file_tree.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class LogFileTest : public testing::Test {
 protected:
  LogFileTest() {
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    setenv("TMPDIR", root_.c_str(), 1);
  }
  ~LogFileTest() override {
    before_.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before_.c_str(), 1);
  }
  fs::path own() const { return root_ / ("einkorn-" + std::to_string(geteuid())); }

  test::FileTree tree_{};
  fs::path root_ = tree_.root();
  std::string before_;
};

TEST_F(LogFileTest, WritesTheWholeTextWhereOnlyTheOwnerReads) {
  const LogFile file = write_log("ops/x/y.cu", "all of it\n");
  ASSERT_EQ(file.reason, "");
  EXPECT_THAT(file.path, testing::StartsWith((own() / "logs" / "ops_x_y.cu-").string()));
  std::ifstream in(file.path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "all of it\n");
  struct stat info{};
  ASSERT_EQ(stat((own() / "logs").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(LogFileTest, EachLogHasItsOwnFile) {
  EXPECT_NE(write_log("a.cu", "1").path, write_log("a.cu", "2").path);
}

TEST_F(LogFileTest, ALinkInPlaceOfTheFolderIsNotFollowed) {
  fs::create_directory(root_ / "elsewhere");
  fs::create_directory_symlink(root_ / "elsewhere", own());
  const LogFile file = write_log("a.cu", "1");
  EXPECT_EQ(file.path, "");
  EXPECT_THAT(file.reason, HasSubstr("is not a folder"));
  EXPECT_TRUE(fs::is_empty(root_ / "elsewhere"));
}

TEST_F(LogFileTest, AFolderThatOthersMayWriteToIsNotUsed) {
  fs::create_directory(own());
  fs::permissions(own(), fs::perms::all);
  EXPECT_THAT(write_log("a.cu", "1").reason, HasSubstr("others may write to it"));
}

TEST_F(LogFileTest, AMissingRootIsAReason) {
  setenv("TMPDIR", (root_ / "gone").c_str(), 1);
  EXPECT_THAT(write_log("a.cu", "1").reason, HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace einkorn::jit
