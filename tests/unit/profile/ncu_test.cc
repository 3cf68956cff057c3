#include "src/profile/ncu.h"

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/file.h"
#include "src/profile/ncu_csv.h"
#include "tests/unit/file_tree.h"
#include "tests/unit/profile/ncu_output.h"

namespace einkorn::profile {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

class Ncu : public testing::Test {
 protected:
  Ncu() {
    roots_.default_toolkit = tree_.path("default");
    roots_.packages = tree_.path("packages");
  }

  std::string found() const { return find_ncu(roots_).path.value_or("none"); }

  /// A program that takes ncu's place.
  std::string fake(const std::string& script) const {
    return tree_.write_script("fake_ncu", "#!/bin/sh\n" + script + "\n");
  }

  std::string failure(const std::string& script) const {
    try {
      static_cast<void>(run_ncu({.ncu = fake(script), .command = {"einkorn", "profile-run"}}));
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  einkorn::test::FileTree tree_{};
  NcuRoots roots_;
};

// Each step adds a program to a place that is searched before the last one's.
TEST_F(Ncu, OrderOfPlaces) {
  roots_.path = "/nowhere:" + tree_.path("path");
  roots_.common.toolkits = {tree_.path("home")};
  EXPECT_EQ(found(), "none");
  EXPECT_THAT(find_ncu(roots_).tried,
              AllOf(Contains(tree_.path("home/bin")), Contains(tree_.path("packages/<version>"))));
  for (const char* place : {"packages/2024.9.1/ncu", "packages/2024.10.0/ncu", "default/bin/ncu",
                            "home/bin/ncu", "path/ncu"}) {
    const std::string program = tree_.write_script(place, "#!/bin/sh\n");
    EXPECT_EQ(found(), program);
  }
  roots_.common.override_path = tree_.path("named");
  EXPECT_EQ(found(), "none") << "nothing else is tried";
  EXPECT_THAT(find_ncu(roots_).tried, Contains(HasSubstr("EINKORN_NCU")));
}

TEST_F(Ncu, FoldersThatAreNoVersionAreNotTaken) {
  tree_.write_script("packages/host/ncu", "#!/bin/sh\n");
  EXPECT_EQ(found(), "none");
}

TEST_F(Ncu, RunsTheCommandBelowItAndGivesItsTable) {
  tree_.write("table.csv", test::kRawCsv);
  const std::string ncu =
      fake(R"(printf '%s\n' "$@" >)" + tree_.path("argv") + "\ncat " + tree_.path("table.csv"));
  const std::string out = run_ncu(
      {.ncu = ncu, .command = {"einkorn", "profile-run", "a b", "$HOME"}, .skip = 3, .count = 3});
  EXPECT_EQ(parse_ncu_csv(out).size(), 2U);
  const std::string argv = read_file(tree_.path("argv")).text;
  EXPECT_THAT(argv, HasSubstr("--csv\n--page\nraw\n"));
  EXPECT_THAT(argv, HasSubstr("--launch-skip\n3\n--launch-count\n3\n"));
  EXPECT_THAT(argv, HasSubstr("--clock-control\nnone\n"));
  EXPECT_THAT(argv, testing::EndsWith("einkorn\nprofile-run\na b\n$HOME\n")) << "no shell";
}

TEST_F(Ncu, CountersThatMayNotBeRead) {
  const std::string said = failure(
      "echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
      "Performance Counters on the target device 0.'; exit 1");
  EXPECT_THAT(said, AllOf(HasSubstr("ERR_NVGPUCTRPERM"), HasSubstr("hint: run as root"),
                          HasSubstr("NVreg_RestrictProfilingToAdminUsers=0")));
}

TEST_F(Ncu, OtherFailures) {
  EXPECT_THAT(failure("echo '==WARNING== No kernels were profiled.'"),
              HasSubstr("no kernel was profiled"));
  EXPECT_THAT(failure("echo out; echo broken >&2; exit 3"),
              AllOf(HasSubstr("exit status 3"), HasSubstr("it said: broken")));
  EXPECT_THROW(static_cast<void>(run_ncu({.ncu = tree_.path("absent"), .command = {"x"}})), Error);
}

TEST_F(Ncu, Version) {
  EXPECT_EQ(ncu_version(fake("echo 'NVIDIA (R) Nsight Compute Command Line Profiler'\n"
                             "echo 'Version 2025.3.1.0 (build 36398880) (public-release)'")),
            "2025.3.1.0");
  EXPECT_EQ(ncu_version(fake("exit 1")), "");
}

}  // namespace
}  // namespace einkorn::profile
