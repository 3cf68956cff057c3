#include "src/jit/source_folder.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/file.h"
#include "tests/unit/jit/compiler_tests.h"

namespace einkorn::jit {
namespace {

using test::FileTree;
using test::Variable;
using testing::HasSubstr;
using testing::IsEmpty;

class SourceFolderTest : public testing::Test {
 protected:
  SourceFolderTest() : tmpdir_("TMPDIR", temporary_.root().string()) {}

  FileTree temporary_;
  Variable tmpdir_;
};

TEST_F(SourceFolderTest, NamesThatLeadOutOrMeanSomethingStayInside) {
  SourceSet sources;
  sources.files = {{"-k $(x).cu",
                    "#include \"../a.h\"\n#include </etc/b.h>\n# include \"a.h\"\n"
                    "#if __has_include(\"c/d.h\")\n#endif\n#include <vector>\n",
                    "<memory>"},
                   {"../a.h", "A", ""},
                   {"/etc/b.h", "B", ""},
                   {"a.h", "C", ""},
                   {"c/d.h", "D", ""}};
  const ScratchFolder scratch;
  const SourceFolder folder(scratch, sources, "\nappended\n");
  EXPECT_EQ(folder.path(), scratch.path() + "/src");
  EXPECT_EQ(folder.main(), "_k___x_.cu");
  const auto text = [&](const std::string& name) {
    return read_file(folder.path() + "/" + name).text;
  };
  EXPECT_EQ(text(folder.main()),
            "#include <_up_/a.h>\n#include <etc/b.h>\n# include <a.h>\n"
            "#if __has_include(<c/d.h>)\n#endif\n#include <vector>\n\nappended\n");
  EXPECT_EQ(text("_up_/a.h"), "A");
  EXPECT_EQ(text("etc/b.h"), "B");
  EXPECT_EQ(text("a.h"), "C");
  EXPECT_EQ(text("c/d.h"), "D");
  EXPECT_EQ(folder.with_names("./_up_/a.h(3): error: x\nIn file included from _k___x_.cu:1:\n" +
                              folder.path() + "/a.h:2: y\nword _up_/a.h stays\n"),
            "../a.h(3): error: x\nIn file included from -k $(x).cu:1:\n"
            "a.h:2: y\nword _up_/a.h stays\n");
}

TEST_F(SourceFolderTest, NamesThatBecomeOneAreKeptApart) {
  SourceSet sources;
  sources.files = {{"a", "#include \"a/b\"\n#include \"a b\"\n#include \"a_b\"\n", ""},
                   {"a/b", "1", ""},
                   {"a b", "2", ""},
                   {"a_b", "3", ""}};
  const ScratchFolder scratch;
  const SourceFolder folder(scratch, sources, {});
  EXPECT_EQ(read_file(folder.path() + "/a").text,
            "#include <_2/a/b>\n#include <a_b>\n#include <_2/a_b>\n");
  EXPECT_EQ(read_file(folder.path() + "/_2/a/b").text, "1");
  EXPECT_EQ(read_file(folder.path() + "/a_b").text, "2");
  EXPECT_EQ(read_file(folder.path() + "/_2/a_b").text, "3");
}

TEST_F(SourceFolderTest, ExcludedFilesAreLeftToTheCompiler) {
  SourceSet sources;
  sources.files = {{"k.cu", "#include <fp16.h>\n#include <own.h>\n", "/toolkit/include/k.cu"},
                   {"fp16.h", "", "/toolkit/include/fp16.h"},
                   {"own.h", "", "/toolkit/include2/own.h"}};
  const ScratchFolder scratch;
  const std::filesystem::path excluded[] = {"/toolkit/include"};
  const SourceFolder folder(scratch, sources, {}, excluded);
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/k.cu"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/fp16.h"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/own.h"));
}

TEST_F(SourceFolderTest, IncludeFoldersWithOddNamesAreLinked) {
  const FileTree files;
  files.write("odd $ name/x.h", "X");
  SourceSet sources;
  sources.files = {{"k.cu", "", ""}};
  const ScratchFolder scratch;
  SourceFolder folder(scratch, sources, {});
  EXPECT_EQ(folder.include_folder(files.path("plain")), files.path("plain"));
  const std::string link = folder.include_folder(files.path("odd $ name"));
  EXPECT_EQ(link, "../include1");
  EXPECT_EQ(read_file(folder.path() + "/" + link + "/x.h").text, "X");
  EXPECT_EQ(folder.include_folder("some/where"),
            (std::filesystem::current_path() / "some/where").string());
}

TEST_F(SourceFolderTest, ScratchFoldersArePrivateAndGo) {
  {
    const ScratchFolder one, two;
    EXPECT_NE(one.path(), two.path());
    EXPECT_EQ(std::filesystem::status(one.path()).permissions(), std::filesystem::perms::owner_all);
    one.write("a/b/c", "text");
    EXPECT_EQ(one.read("a/b/c"), "text");
    EXPECT_EQ(one.read_bytes("a/b/c").size(), 4u);
    EXPECT_THAT(test::thrown_text([&] { one.read("gone"); }),
                HasSubstr("expected a file gone of the compiler"));
    EXPECT_THAT(test::thrown_text([&] { one.write("a/b/c/d", ""); }), HasSubstr("cannot write"));
  }
  EXPECT_THAT(temporary_.entries(), IsEmpty());
  const Variable nowhere("TMPDIR", "/nowhere");
  EXPECT_THAT(test::thrown_text([] { const ScratchFolder folder; }),
              HasSubstr("cannot make a folder for the compiler in /nowhere"));
}

}  // namespace
}  // namespace einkorn::jit
