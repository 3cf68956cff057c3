#include "src/cuda/dynamic_library.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/file_tree.h"
#include "tests/unit/golden.h"

namespace einkorn::cuda {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

LibrarySpec spec() {
  return {.name = "libthing",
          .variable = "EINKORN_THING",
          .sonames = {"libthing.so.2", "libthing.so.1"},
          .wheel_folders = {"nvidia/cu13/lib", "nvidia/thing/lib"},
          .in_toolkit = true,
          .last_folders = {},
          .hint = "install it"};
}

class DynamicLibraryTest : public testing::Test {
 protected:
  /// A file below the test's folder that is there, but is no library.
  std::string file(const std::string& path) const {
    const fs::path full = root_ / path;
    fs::create_directories(full.parent_path());
    std::ofstream(full) << "text";
    return full.string();
  }

  std::vector<std::string> searched(const SearchRoots& roots) const {
    std::vector<std::string> out;
    for (const Candidate& candidate : search_order(spec(), roots)) {
      out.push_back(candidate.path + (candidate.only_loaded ? " if loaded" : ""));
    }
    return out;
  }

  test::FileTree tree_{};
  fs::path root_ = tree_.root();
};

TEST_F(DynamicLibraryTest, SearchesInTheDocumentedOrder) {
  const std::string venv = file("venv/lib/python3.11/site-packages/nvidia/cu13/lib/libthing.so.2");
  const std::string beside =
      file("checkout/.venv/lib/python3.12/site-packages/nvidia/thing/lib/libthing.so.1");
  const std::string package = file("other/site-packages/nvidia/cu13/lib/libthing.so.1");
  fs::create_directories(root_ / "checkout/build/tests");
  fs::create_directories(root_ / "other/site-packages/einkorn");
  const std::string toolkit = file("toolkit/lib64/libthing.so.2");
  SearchRoots roots;
  roots.virtual_env = (root_ / "venv").string();
  roots.anchors = {root_ / "checkout/build/tests", root_ / "other/site-packages/einkorn"};
  roots.toolkits = {(root_ / "toolkit").string()};
  EXPECT_THAT(searched(roots),
              ElementsAre("libthing.so.2 if loaded", "libthing.so.1 if loaded", venv, beside,
                          package, toolkit, "libthing.so.2", "libthing.so.1"));
}

TEST_F(DynamicLibraryTest, FindsWheelsBesideThePackageThatALibraryIsIn) {
  for (const char* folder : {"venv/lib/python3.13/site-packages", "local/lib/dist-packages"}) {
    const std::string wheel = file(std::string(folder) + "/nvidia/cu13/lib/libthing.so.2");
    SearchRoots roots;
    roots.anchors = {root_ / folder / "einkorn/lib"};
    EXPECT_THAT(searched(roots), testing::Contains(wheel));
  }
}

TEST_F(DynamicLibraryTest, AnOverrideIsTheOnlyCandidate) {
  file("toolkit/lib64/libthing.so.2");
  SearchRoots roots;
  roots.toolkits = {(root_ / "toolkit").string()};
  roots.override_path = "/nowhere/libthing.so";
  EXPECT_THAT(searched(roots), ElementsAre("/nowhere/libthing.so"));
}

TEST_F(DynamicLibraryTest, OpensWhatTheLoaderFinds) {
  LibrarySpec math = spec();
  math.sonames = {"libno_such_library.so.9", "libm.so.6"};
  const OpenAttempt attempt = try_open(math, {});
  ASSERT_TRUE(attempt.library.has_value());
  EXPECT_THAT(attempt.library->path(), HasSubstr("libm.so.6"));
  EXPECT_NE(attempt.library->symbol("cos"), nullptr);
  EXPECT_EQ(attempt.library->symbol("no_such_function"), nullptr);
  EXPECT_THAT(attempt.tried.front(), StartsWith("libno_such_library.so.9 (not loaded"));
  EXPECT_EQ(attempt.tried.back(), "libm.so.6 (opened)");
}

TEST_F(DynamicLibraryTest, TakesTheCopyThatIsLoadedAlready) {
  LibrarySpec math = spec();
  math.sonames = {"libm.so.6"};  // this test program has it loaded
  EXPECT_EQ(try_open(math, {}).tried.size(), 1u);
}

TEST_F(DynamicLibraryTest, AFileThatIsNoLibraryIsPassedOverWithItsReason) {
  SearchRoots roots;
  roots.toolkits = {(root_ / "toolkit").string()};
  const std::string bad = file("toolkit/lib64/libthing.so.2");
  const OpenAttempt attempt = try_open(spec(), roots);
  EXPECT_FALSE(attempt.library.has_value());
  ASSERT_EQ(attempt.tried.size(), 5u);
  EXPECT_THAT(attempt.tried[2], StartsWith(bad + " ("));
  EXPECT_THAT(attempt.tried[2], HasSubstr("too short"));
}

TEST_F(DynamicLibraryTest, ErrorsNameEveryPlace) {
  test::GoldenErrors errors("errors/library.txt");
  errors.add("not found anywhere", [] { DynamicLibrary::open(spec(), {}); });
  SearchRoots wrong;
  wrong.override_path = "/nowhere/libthing.so";
  errors.add("the environment names a file that is not there",
             [&] { DynamicLibrary::open(spec(), wrong); });
}

struct FailsOnce {
  FailsOnce() {
    if (attempts++ == 0) throw_error(ErrorKind::kRuntime, "not yet");
  }
  static inline int attempts = 0;
};

TEST(LazyTable, TriesAgainAfterAFailureAndThenKeeps) {
  FailsOnce::attempts = 0;
  LazyTable<FailsOnce> table;
  EXPECT_THROW(table.get(), Error);
  const FailsOnce& first = table.get();
  EXPECT_EQ(&first, &table.get());
  EXPECT_EQ(FailsOnce::attempts, 2);
}

TEST(LibraryReports, CoverEveryLibraryWithPlacesOrAPath) {
  const std::vector<LibraryReport> reports = library_reports();
  std::vector<std::string> names;
  for (const LibraryReport& report : reports) {
    names.push_back(report.library);
    EXPECT_FALSE(report.tried.empty()) << report.library;
    const bool opened = report.tried.back().ends_with("(opened)");
    EXPECT_EQ(opened, !report.path.empty()) << report.library;
    if (opened) {
      EXPECT_FALSE(report.version.empty()) << report.library;
    }
  }
  EXPECT_THAT(names, ElementsAre("libcuda", "libnvrtc", "libnvidia-ml", "libcublasLt", "libcupti"));
}

}  // namespace
}  // namespace einkorn::cuda
