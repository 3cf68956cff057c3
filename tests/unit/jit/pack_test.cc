#include "src/jit/pack.h"

#include <filesystem>

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/file_tree.h"
#include "tests/unit/golden.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

/// What overwriting that path comes to; empty when it is replaced.
std::string refusal(const std::string& path) {
  try {
    PackWriter(path, true).finish();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kValue);
    return error.what();
  }
  return {};
}

TEST(PackWriter, OverwritesPacksAndEmptyFoldersAlone) {
  const test::FileTree scratch;
  const std::string output = scratch.path("out");
  fs::create_directory(output);
  EXPECT_EQ(refusal(output), "");
  EXPECT_TRUE(fs::is_regular_file(output + "/pack.json"));
  EXPECT_EQ(refusal(output + "/"), "") << "the pack that was just written";
  EXPECT_THAT(test::error_text([&] { PackWriter(output, false); }),
              AllOf(HasSubstr("which is a pack"), HasSubstr("--overwrite")));
}

TEST(PackWriter, WhatIsNoPackStays) {
  const test::FileTree scratch;
  const std::string kept = scratch.write("important/src/x", "precious");
  EXPECT_THAT(refusal(scratch.path("important")),
              AllOf(HasSubstr("pack: --output: expected a new or empty folder or a pack, got " +
                              scratch.path("important")),
                    HasSubstr(R"(it holds "src")")));
  EXPECT_THAT(refusal(kept), HasSubstr("which is no folder"));
  fs::create_directory_symlink(scratch.path("important"), scratch.path("link"));
  EXPECT_THAT(refusal(scratch.path("link")), HasSubstr("which is a link"));
  const std::string note = scratch.write("mixed/note", "mine");
  scratch.write("mixed/pack.json", "{}");
  fs::create_directory(scratch.path("mixed/v1"));
  EXPECT_THAT(refusal(scratch.path("mixed")), HasSubstr(R"(it holds "note")"));
  scratch.write("half/pack.json", "{}");
  EXPECT_THAT(refusal(scratch.path("half")), HasSubstr(R"(it holds "pack.json")"));
  for (const std::string& path : {kept, note}) EXPECT_TRUE(fs::is_regular_file(path));
}

TEST(PackWriter, WhatCameToBeThereMeanwhileStays) {
  const test::FileTree scratch;
  PackWriter writer(scratch.path("out"), false);
  const std::string kept = scratch.write("out/x", "precious");
  EXPECT_THAT(test::error_text([&] { writer.finish(); }), HasSubstr(R"(it holds "x")"));
  EXPECT_TRUE(fs::is_regular_file(kept));
}

TEST(PackWriter, AnEmptyPathIsNone) {
  EXPECT_EQ(refusal(""), "pack: --output: expected the path of a folder, got an empty text");
}

}  // namespace
}  // namespace einkorn::jit
