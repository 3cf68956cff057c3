#include "src/versions/change.h"

#include <einkorn/error.h>
#include <gmock/gmock.h>

#include "src/core/file.h"
#include "tests/unit/file_tree.h"

namespace einkorn::versions {
namespace {

using test::FileTree;

using testing::HasSubstr;

TEST(Change, DiffOfALineInserted) {
  const FileChange change{"list.inc", "a\nb\nc\nd\ne\n", "a\nb\nc\nnew\nd\ne\n"};
  EXPECT_EQ(unified_diff({&change, 1}),
            "diff --git a/list.inc b/list.inc\n--- a/list.inc\n+++ b/list.inc\n"
            "@@ -1,5 +1,6 @@\n a\n b\n c\n+new\n d\n e\n");
}

TEST(Change, DiffOfANewFileAndOfNone) {
  const FileChange changes[] = {{"same", "x\n", "x\n"}, {"new.cc", std::nullopt, "a\nb"}};
  EXPECT_EQ(unified_diff(changes),
            "diff --git a/new.cc b/new.cc\nnew file mode 100644\n--- /dev/null\n+++ b/new.cc\n"
            "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n");
}

TEST(Change, WritesAll) {
  const FileTree folder("change_all");
  folder.write("list", "old\n");
  const FileChange changes[] = {{"deep/er/new.cc", std::nullopt, "text"},
                                {"list", "old\n", "new\n"}};
  write_changes(folder.root().string(), changes);
  EXPECT_EQ(read_file(folder.path("deep/er/new.cc")).text, "text");
  EXPECT_EQ(read_file(folder.path("list")).text, "new\n");
}

TEST(Change, UndoesAllWhenOneCannotBeWritten) {
  const FileTree folder("change_none");
  folder.write("list", "old\n");
  folder.write("there", "mine");
  const FileChange changes[] = {{"deep/new.cc", std::nullopt, "text"},
                                {"list", "old\n", "new\n"},
                                {"there", std::nullopt, "theirs"}};
  try {
    write_changes(folder.root().string(), changes);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
    EXPECT_THAT(error.what(), HasSubstr("there: could not write: File exists"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder.root() / "deep"));
  EXPECT_EQ(read_file(folder.path("list")).text, "old\n");
  EXPECT_EQ(read_file(folder.path("there")).text, "mine");
}

}  // namespace
}  // namespace einkorn::versions
