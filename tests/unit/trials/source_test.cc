#include "src/trials/source.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/file_tree.h"

namespace einkorn::trials {
namespace {

const void* here() { return reinterpret_cast<const void*>(&source_digest); }

std::string of(std::string_view variant, const std::vector<std::string>& files = {}) {
  return source_digest(variant, files, here());
}

TEST(SourceDigest, TellsVariantsApart) {
  const std::string rows = of("rms_norm/cpu/rows_v1");
  EXPECT_EQ(rows.size(), 64U);
  EXPECT_EQ(rows, of("rms_norm/cpu/rows_v1"));
  EXPECT_NE(rows, of("silu_mul/cpu/rows_v1"));
  const std::string cu = "ops/norm/rms_norm/smxx/rows_v1.cu";
  EXPECT_NE(of("rms_norm/smxx/rows_v1", {cu}), of("rms_norm/smxx/rows_v1"));
  EXPECT_EQ(of("rms_norm/smxx/rows_v1", {cu}), of("rms_norm/smxx/rows_v1", {cu, cu}));
}

TEST(SourceDigest, ChangesWithAHeader) {
  const test::FileTree tree;
  tree.write("a/k.cu", "#include \"h.cuh\"\n");
  tree.write("a/h.cuh", "int x;\n");
  tree.write("b/k.cu", "#include \"h.cuh\"\n");
  tree.write("b/h.cuh", "int y;\n");
  EXPECT_NE(of("x/smxx/k_v1", {tree.path("a/k.cu")}), of("x/smxx/k_v1", {tree.path("b/k.cu")}));
}

TEST(SourceDigest, AForeignVariantIsKnownByItsObjectFile) {
  EXPECT_EQ(of("mine/cpu/a_v1").size(), 64U);
  EXPECT_EQ(source_digest("mine/cpu/b_v1", {}, nullptr), "");
}

TEST(SourceDigest, WhatCannotBeReadHasNone) {
  EXPECT_EQ(of("rms_norm/smxx/rows_v1", {"no/such/file.cu"}), "");
}

TEST(HostSources, AreListed) {
  for (const EmbeddedFile& file : host_source_digests()) {
    EXPECT_EQ(file.text.size(), 16U) << file.path;
  }
}

TEST(HostFiles, AreTheVariantsItsOpsAndItsFamilys) {
  std::vector<std::string> paths;
  for (const EmbeddedFile& file : host_files("silu_mul_bwd/smxx/flat_v1")) {
    paths.emplace_back(file.path);
  }
  EXPECT_THAT(paths, testing::IsSupersetOf({"ops/activation/flat.h", "ops/activation/gated.h",
                                            "ops/activation/silu_mul_bwd/contract.h",
                                            "ops/activation/silu_mul_bwd/launch.h",
                                            "ops/activation/silu_mul_bwd/smxx/flat_v1.cc"}));
  // Of its family no sources, of other ops and families nothing, nor what runs on a CPU only.
  EXPECT_THAT(paths, testing::Each(testing::AnyOf(
                         testing::MatchesRegex("ops/activation/(silu_mul_bwd/)?[a-z_]+\\.h"),
                         "ops/activation/silu_mul_bwd/smxx/flat_v1.cc")));
}

TEST(HostFiles, OfACpuVariantIncludeTheCpus) {
  bool found = false;
  for (const EmbeddedFile& file : host_files("rms_norm/cpu/rows_v1")) {
    found |= file.path == "src/cpu/codec-inl.h";
  }
  EXPECT_TRUE(found);
  EXPECT_TRUE(host_files("mine/cpu/a_v1").empty());
}

}  // namespace
}  // namespace einkorn::trials
