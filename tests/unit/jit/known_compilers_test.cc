#include "src/jit/known_compilers.h"

#include <chrono>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/file_tree.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(KnownCompilers, LatestFirstAndEachOnce) {
  const test::FileTree tree;
  const std::string root = tree.path("cache");
  EXPECT_THAT(known_identities(root, "nvrtc"), IsEmpty());
  for (const char* identity : {"nvrtc 1", "nvrtc 2", "nvrtc 1"}) {
    EXPECT_EQ(keep_identity(root, "nvrtc", identity, {}), "");
  }
  EXPECT_THAT(known_identities(root, "nvrtc"), UnorderedElementsAre("nvrtc 1", "nvrtc 2"));
  for (const auto& file : fs::directory_iterator(root + "/compilers/nvrtc")) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  EXPECT_EQ(keep_identity(root, "nvrtc", "nvrtc 3", {}), "");
  EXPECT_EQ(known_identities(root, "nvrtc").front(), "nvrtc 3");
  EXPECT_EQ(keep_identity(root, "nvcc", "nvcc 1", {}), "");
  EXPECT_THAT(known_identities(root, "nvcc"), ElementsAre("nvcc 1"));
}

TEST(KnownCompilers, WhatWasCutOffIsNone) {
  const test::FileTree tree;
  EXPECT_EQ(keep_identity(tree.path("cache"), "nvrtc", "nvrtc 1", {}), "");
  for (const auto& file : fs::directory_iterator(tree.path("cache/compilers/nvrtc"))) {
    fs::resize_file(file, 3);
  }
  EXPECT_THAT(known_identities(tree.path("cache"), "nvrtc"), IsEmpty());
}

TEST(KnownCompilers, TroubleIsTold) {
  const test::FileTree tree;
  EXPECT_NE(keep_identity(tree.write("no_folder"), "nvrtc", "nvrtc 1", {}), "");
}

}  // namespace
}  // namespace einkorn::jit
