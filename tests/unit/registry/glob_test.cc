// Patterns over paths and names.

#include "src/registry/glob.h"

#include <string>

#include <gtest/gtest.h>

namespace einkorn::detail {
namespace {

bool path(std::string_view pattern, std::string_view text) {
  return glob_match(pattern, text, '.');
}

TEST(Glob, PlainTextIsItself) {
  EXPECT_TRUE(path("model.norm", "model.norm"));
  EXPECT_FALSE(path("model.norm", "model.norm2"));
  EXPECT_FALSE(path("model.norm", "amodel.norm"));
  EXPECT_TRUE(path("", ""));
  EXPECT_FALSE(path("", "a"));
  EXPECT_FALSE(path("a[0-9]", "a5")) << "no classes: brackets are themselves";
  EXPECT_TRUE(path("a[0-9]", "a[0-9]"));
}

TEST(Glob, OneStarStaysWithinAPart) {
  EXPECT_TRUE(path("layers.*.norm", "layers.10.norm"));
  EXPECT_FALSE(path("layers.*.norm", "layers.10.attn.norm"));
  EXPECT_TRUE(path("layers.*.*norm", "layers.10.input_layernorm"));
  EXPECT_TRUE(path("layers.1*", "layers.1"));
  EXPECT_TRUE(path("*", "model"));
  EXPECT_FALSE(path("*", "model.norm"));
  EXPECT_TRUE(path("*", ""));
}

TEST(Glob, TwoStarsCrossParts) {
  EXPECT_TRUE(path("**", "model.layers.0.norm"));
  EXPECT_TRUE(path("**", ""));
  EXPECT_TRUE(path("**.norm", "model.layers.0.norm"));
  EXPECT_FALSE(path("**.norm", "norm"));
  EXPECT_TRUE(path("model.**.norm", "model.layers.0.norm"));
  EXPECT_FALSE(path("model.**.norm", "model.layers.0.norm2"));
  EXPECT_TRUE(path("***.norm", "a.b.norm")) << "two, then one more";
}

TEST(Glob, AQuestionMarkIsOneCharacterOfAPart) {
  EXPECT_TRUE(path("layers.?", "layers.7"));
  EXPECT_FALSE(path("layers.?", "layers.10"));
  EXPECT_FALSE(path("layers.?", "layers."));
  EXPECT_FALSE(path("a?b", "a.b"));
}

TEST(Glob, TheSeparatorIsTheCallers) {
  EXPECT_TRUE(glob_match("smxx/*", "smxx/rows_v1", '/'));
  EXPECT_FALSE(glob_match("*", "smxx/rows_v1", '/'));
  EXPECT_TRUE(glob_match("*", "a.b", '/'));
}

// Backtracking would take some 40^20 steps.
TEST(Glob, ManyStarsTakeNoTime) {
  std::string pattern;
  for (int i = 0; i < 20; ++i) pattern += "*a";
  EXPECT_FALSE(glob_match(pattern + "b", std::string(40, 'a'), '.'));
  EXPECT_TRUE(glob_match(pattern, std::string(40, 'a'), '.'));
}

TEST(Glob, OnlyWildCardsMakeAPattern) {
  EXPECT_TRUE(is_glob("smxx/*"));
  EXPECT_TRUE(is_glob("cpu/rows_v?"));
  EXPECT_FALSE(is_glob("cpu/rows_v1"));
}

}  // namespace
}  // namespace einkorn::detail
