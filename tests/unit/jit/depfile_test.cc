#include "src/jit/depfile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/jit/compiler_tests.h"

namespace einkorn::jit {
namespace {

using test::FileTree;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Depfile, RuleOfSeveralLines) {
  EXPECT_THAT(parse_depfile("../unit.ptx : k.cu \\\n    /usr/a.h \\\n  ./b/c.h\n"),
              ElementsAre("k.cu", "/usr/a.h", "./b/c.h"));
  EXPECT_THAT(parse_depfile("unit.o: k.c a.h\n\na.h:\n"), ElementsAre("k.c", "a.h"));
  EXPECT_THAT(parse_depfile("unit.o: k.c\\\r\n a.h\r\n"), ElementsAre("k.c", "a.h"));
  EXPECT_THAT(parse_depfile("a\\ b/c:d.o: k.c"), ElementsAre("k.c"));
}

TEST(Depfile, Escapes) {
  EXPECT_THAT(parse_depfile(R"(x: a\ b.h c\#d.h e$$f.h $g.h h\i.h)"),
              ElementsAre("a b.h", "c#d.h", "e$f.h", "$g.h", "h\\i.h"));
  EXPECT_THAT(parse_depfile(R"(x: a\\ b.h c\\\ d.h)"), ElementsAre("a\\", "b.h", "c\\ d.h"));
}

TEST(Depfile, WhateverTheText) {
  EXPECT_THAT(parse_depfile(""), IsEmpty());
  EXPECT_THAT(parse_depfile("no rule"), IsEmpty());
  EXPECT_THAT(parse_depfile("x:"), IsEmpty());
  EXPECT_THAT(parse_depfile("x: \\"), IsEmpty());
  EXPECT_THAT(parse_depfile("x: a\\"), ElementsAre("a"));
  EXPECT_THAT(parse_depfile("x: $"), ElementsAre("$"));
  EXPECT_THAT(parse_depfile("\\"), IsEmpty());
}

TEST(Depfile, RealPathsOutsideOfTheScratchFolder) {
  const FileTree files;
  files.write("scratch/src/k.cu", "");
  files.write("scratch/src/a.h", "");
  const std::string real = files.write("include/b.h", "");
  std::filesystem::create_directory_symlink(files.path("include"), files.path("scratch/link"));
  const std::string depfile =
      "../unit.o: k.cu ./a.h ../link/b.h ../../include/b.h /gone/c.h " + files.path("include/b.h");
  EXPECT_THAT(dependencies_outside(depfile, files.path("scratch/src"), files.path("scratch")),
              testing::UnorderedElementsAre(real, "/gone/c.h"));
}

}  // namespace
}  // namespace einkorn::jit
