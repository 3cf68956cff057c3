#include "src/jit/inputs.h"

#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/file_tree.h"
#include "tests/unit/golden.h"

namespace einkorn::jit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Request request_of(const std::string& file) {
  return {.file = file, .instantiate = "k", .arch = "sm_90a"};
}

KeyParts parts_of(const Request& request, std::string_view compiler = "nvrtc 1") {
  return key_parts(resolve_inputs(request), compiler);
}

class Key : public testing::Test {
 protected:
  Key() {
    file_ = scratch_.write("k.cu", "#include \"h.cuh\"\n__global__ void k() {}\n");
    header_ = scratch_.write("h.cuh", "#define N 4\n");
    base_ = parts_of(request_of(file_));
  }

  void expect_other(const KeyParts& parts, const std::string& difference) {
    EXPECT_NE(key_of(parts), key_of(base_));
    EXPECT_THAT(differences(base_, parts), ElementsAre(difference));
  }

  test::FileTree scratch_;
  std::string file_, header_;
  KeyParts base_;
};

TEST_F(Key, DiffersWithEveryInput) {
  expect_other(parts_of(request_of(file_), "nvrtc 2"), "compiler: nvrtc 1 and nvrtc 2");
  Request request = request_of(file_);
  request.arch = "sm_80";
  expect_other(parts_of(request), "arch: sm_90a and sm_80");
  request = request_of(file_);
  request.options = {"-DX"};
  expect_other(parts_of(request), "options: [] and [-DX]");
  request = request_of(file_);
  request.instantiate = {"k", "j"};
  expect_other(parts_of(request), "entries: [k] and [k, j]");
  scratch_.write("h.cuh", "#define N 5\n");
  expect_other(parts_of(request_of(file_)), "file h.cuh: content differs");
  scratch_.write("h.cuh", "#define N 4\n");
  scratch_.write("k.cu", "#include \"h.cuh\"\n__global__ void k() { }\n");
  expect_other(parts_of(request_of(file_)), "file k.cu: content differs");
}

TEST_F(Key, AnotherHeaderIsSeen) {
  scratch_.write("h.cuh", "#include \"more.cuh\"\n");
  scratch_.write("more.cuh", "");
  EXPECT_THAT(
      differences(base_, parts_of(request_of(file_))),
      ElementsAre("file h.cuh: content differs", "file more.cuh: only the second reads it"));
}

TEST_F(Key, ATouchedHeaderChangesNothing) {
  std::filesystem::last_write_time(
      header_, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_EQ(key_of(parts_of(request_of(file_))), key_of(base_));
  EXPECT_THAT(differences(base_, parts_of(request_of(file_))), IsEmpty());
}

TEST_F(Key, ThePlaceOfTheTreeChangesNothing) {
  const test::FileTree elsewhere;
  const std::string file =
      elsewhere.write("deep/er/k.cu", "#include \"h.cuh\"\n__global__ void k() {}\n");
  elsewhere.write("deep/er/h.cuh", "#define N 4\n");
  EXPECT_EQ(key_of(parts_of(request_of(file))), key_of(base_));
}

TEST_F(Key, OrderAndDivisionOfTextsCount) {
  std::vector<Digest> keys;
  for (const auto& options : std::vector<std::vector<std::string>>{
           {"-a", "-b"}, {"-b", "-a"}, {"-a-b"}, {"-a", "", "-b"}, {"-a"}}) {
    Request request = request_of(file_);
    request.options = options;
    keys.push_back(key_of(parts_of(request)));
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(keys[i], keys[j]);
  }
}

TEST(ResolveInputs, SettingsThatMeanNothing) {
  const test::FileTree tree;
  Request request{.file = "k.cu", .source = "//", .instantiate = "k", .arch = "sm_90a"};
  for (const double seconds : {-1.0, -0.001, std::nan(""), HUGE_VAL}) {
    request.time_limit = seconds;
    EXPECT_THAT(test::error_text([&] { resolve_inputs(request); }),
                testing::StartsWith("ValueError: jit: time_limit: expected seconds"));
  }
  request.time_limit = 0;
  request.include_dirs = {tree.root().string(), tree.path("none")};
  EXPECT_THAT(test::error_text([&] { resolve_inputs(request); }),
              testing::StartsWith("ValueError: jit: include_dirs: expected folders, got \"" +
                                  tree.path("none") + "\", which is none\n  hint: "));
  tree.write("none/value.h");
  EXPECT_NO_THROW(resolve_inputs(request));
}

TEST(ResolveInputs, NothingToInstantiate) {
  EXPECT_EQ(test::error_text([] { resolve_inputs({.source = "x", .arch = "sm_80"}); }),
            "ValueError: jit: instantiate of : expected the name of a kernel at least, got none");
}

}  // namespace
}  // namespace einkorn::jit
