#include "src/jit/source_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/file_tree.h"
#include "tests/unit/golden.h"

namespace einkorn::jit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> mentioned(std::string_view text) {
  std::vector<std::string> out;
  for (const IncludeMention& one : find_includes(text).named) {
    std::string& name = out.emplace_back(1, one.quoted ? '"' : '<');
    name += text.substr(one.begin, one.end - one.begin);
  }
  return out;
}

std::vector<std::string> names(const SourceSet& set) {
  std::vector<std::string> out;
  out.reserve(set.files.size());
  for (const SourceFile& file : set.files) out.push_back(file.name);
  return out;
}

TEST(FindIncludes, Forms) {
  EXPECT_THAT(mentioned("#include \"a.h\"\n  #  include <b/c.h> // d\n#\tinclude\t\"e.h\"\n"),
              ElementsAre("\"a.h", "<b/c.h", "\"e.h"));
  EXPECT_THAT(mentioned("/* x */ #include \"a.h\"\n#include /* y */ \"b.h\"\n"),
              ElementsAre("\"a.h", "\"b.h"));
  EXPECT_THAT(mentioned("#inc\\\nlude \"a.h\"\n#include \\\n \"b.h\"\r\n#include \"c.h\""),
              ElementsAre("\"a.h", "\"b.h", "\"c.h"));
  EXPECT_THAT(mentioned(" %:include <a.h>\nint x = 5 %:include <b.h>\n"), ElementsAre("<a.h"));
  EXPECT_THAT(mentioned("#if defined(X) && __has_include(<a.h>) || __has_include(\"b.h\")\n"),
              ElementsAre("<a.h", "\"b.h"));
  EXPECT_THAT(mentioned("#include_next <a.h>\n"), ElementsAre("<a.h"));
}

TEST(FindIncludes, NotInCommentsAndLiterals) {
  EXPECT_THAT(mentioned("// #include \"a.h\"\n// \\\n#include \"b.h\"\n"), IsEmpty());
  EXPECT_THAT(mentioned("/*\n#include \"a.h\"\n*/"), IsEmpty());
  EXPECT_THAT(mentioned("const char* s = \"\\\"\\\n#include <a.h>\";\n"), IsEmpty());
  EXPECT_THAT(mentioned("auto s = R\"x(\n#include \"a.h\"\n)\" )x\";\n#include \"b.h\"\n"),
              ElementsAre("\"b.h"));
  EXPECT_THAT(mentioned("auto s = u8R\"(\n#include \"a.h\"\n)\";\n"), IsEmpty());
  EXPECT_THAT(mentioned("int x = 1'000; #include \"a.h\"\n#include \"b.h\"\n"),
              ElementsAre("\"b.h"));
  EXPECT_THAT(mentioned("char c = '\"';\n#include \"a.h\"\nchar d = '\\'';\n#include \"b.h\"\n"),
              ElementsAre("\"a.h", "\"b.h"));
}

TEST(FindIncludes, ComputedOnesAreTold) {
  EXPECT_TRUE(find_includes("#define H \"a.h\"\n#include H\n").computed);
  EXPECT_TRUE(find_includes("#include_next /* x */ FILE_OF(a)\n").computed);
  EXPECT_TRUE(find_includes("#if __has_include(H)\n#endif\n").computed);
  EXPECT_FALSE(find_includes("#include \"a.h\"\n#include\n// #include H\n").computed);
}

TEST(FindIncludes, ComputedAndBrokenOnesAreLeftAlone) {
  EXPECT_THAT(mentioned("#include MACRO\n#include \"open\n#include <open\n#include\n#"), IsEmpty());
  EXPECT_THAT(mentioned("\"\\"), IsEmpty());
  EXPECT_THAT(mentioned("R\"abc"), IsEmpty());
}

TEST(SourceSet, FollowsIncludesAndGivesNamesThatDoNotDependOnThePlace) {
  std::vector<SourceSet> sets;
  for (int i = 0; i < 2; ++i) {
    const test::FileTree folder;
    folder.write("k/main.cu",
                 "#include \"a.cuh\"\n#include \"../common/b.cuh\"\n#include <c.cuh>\n");
    folder.write("k/a.cuh", "#pragma once\n#include \"../common/b.cuh\"\n");
    folder.write("common/b.cuh", "#include \"d.cuh\"\n");
    folder.write("common/d.cuh", "int d;\n");
    folder.write("inc/c.cuh", "int c;\n");
    IncludeSearch search;
    search.folders = {folder.root() / "inc"};
    sets.push_back(collect_file(folder.path("k/main.cu"), search));
  }
  EXPECT_THAT(names(sets[0]),
              ElementsAre("main.cu", "../common/b.cuh", "../common/d.cuh", "a.cuh", "c.cuh"));
  for (std::size_t i = 0; i < sets[0].files.size(); ++i) {
    EXPECT_EQ(sets[0].files[i].name, sets[1].files[i].name);
    EXPECT_EQ(sets[0].files[i].text, sets[1].files[i].text);
  }
  // The directive names what the file is called in the set.
  EXPECT_EQ(sets[0].files[1].text, "#include \"../common/d.cuh\"\n");
}

TEST(SourceSet, TwoFilesOfOneNameStayApart) {
  const test::FileTree folder;
  folder.write("main.cu", "#include \"a/x.cuh\"\n#include \"b/x.cuh\"\n");
  folder.write("a/x.cuh", "#include <t.cuh>\n");
  folder.write("b/x.cuh", "#include \"t.cuh\"\n");
  folder.write("b/t.cuh", "int beside;\n");
  folder.write("inc/t.cuh", "int in_folder;\n");
  folder.write("inc/b/t.cuh", "int other;\n");
  folder.write("main2.cu", "#include \"b/t.cuh\"\n#include <b/t.cuh>\n");
  IncludeSearch search;
  search.folders = {folder.root() / "inc"};
  EXPECT_THAT(names(collect_file(folder.path("main.cu"), search)),
              ElementsAre("main.cu", "a/x.cuh", "b/t.cuh", "b/x.cuh", "t.cuh"));
  const SourceSet clash = collect_file(folder.path("main2.cu"), search);
  EXPECT_THAT(names(clash), ElementsAre("main2.cu", "b/t.cuh", "b/t.cuh~2"));
  EXPECT_EQ(clash.files[0].text, "#include \"b/t.cuh\"\n#include <b/t.cuh~2>\n");
}

TEST(SourceSet, SearchOrder) {
  const test::FileTree folder;
  folder.write("main.cu", "#include \"x.cuh\"\n");
  folder.write("own/src/x.cuh", "own");
  folder.write("toolkit/x.cuh", "toolkit");
  const EmbeddedSource embedded[] = {{"x.cuh", "embedded"}};
  IncludeSearch search;
  search.folders = {folder.root() / "own/src"};
  search.embedded = embedded;
  search.toolkits = {folder.root() / "toolkit"};
  const auto text = [&] { return collect_file(folder.path("main.cu"), search).files.at(1).text; };
  EXPECT_EQ(text(), "own");
  search.folders.clear();
  EXPECT_EQ(text(), "embedded");
  search.embedded = {};
  EXPECT_EQ(text(), "toolkit");
  folder.write("x.cuh", "beside");
  EXPECT_EQ(text(), "beside");
}

// A header that is not embedded is found in the repository's root alone, so that everything works
// there and nothing elsewhere.
TEST(SourceSet, AllThatEmbeddedSourcesQuoteIsEmbedded) {
  ASSERT_THAT(embedded_sources(), testing::Not(IsEmpty()));
  for (const EmbeddedSource& source : embedded_sources()) {
    for (const IncludeMention& one : find_includes(source.text).named) {
      if (!one.quoted) continue;
      const std::string_view name = source.text.substr(one.begin, one.end - one.begin);
      EXPECT_NE(find_embedded(name), nullptr) << source.path << " includes " << name;
    }
  }
}

TEST(SourceSet, UnresolvedOnesAreListedAndStay) {
  const SourceSet set = collect_text("k.cu", "#include <nowhere.h>\n#include \"gone.h\"\n", {});
  EXPECT_THAT(set.unresolved, ElementsAre("gone.h", "nowhere.h"));
  EXPECT_EQ(set.files[0].text, "#include <nowhere.h>\n#include \"gone.h\"\n");
}

TEST(SourceSet, CyclesEnd) {
  const test::FileTree folder;
  folder.write("a.cuh", "#include \"b.cuh\"\n");
  folder.write("b.cuh", "#include \"a.cuh\"\n#include \"b.cuh\"\n");
  EXPECT_THAT(names(collect_file(folder.path("a.cuh"), {})), ElementsAre("a.cuh", "b.cuh"));
}

TEST(SourceSet, AFileThatCannotBeReadIsNamed) {
  EXPECT_THAT(
      test::error_text([] { collect_file("/nowhere/k.cu", {}); }),
      HasSubstr("jit: file: expected a readable source, got \"/nowhere/k.cu\": No such file"));
  const test::FileTree folder;
  EXPECT_THAT(test::error_text([&] { collect_file(folder.root(), {}); }),
              HasSubstr("Is a directory"));
}

}  // namespace
}  // namespace einkorn::jit
