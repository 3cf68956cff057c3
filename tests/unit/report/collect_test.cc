#include "src/report/collect.h"

#include <einkorn/error.h>
#include <gtest/gtest.h>

#include "tests/unit/file_tree.h"

namespace einkorn::report {
namespace {

constexpr char kBench[] = R"({"op": "o", "device": "d", "results": [
  {"variant": "o/cpu/a_v1", "median_us": 1}]})";

Documents collected(const std::vector<std::string>& paths) { return collect(paths); }

TEST(ReportCollect, FoldersInTheOrderOfNames) {
  const test::FileTree tree;
  tree.write("b/x.json", kBench);
  tree.write("a/y.json", kBench);
  tree.write("a/readme.txt", "passed over");
  tree.write("bad.json", "{");
  tree.write("params.json", "{}");
  const Documents got = collected({tree.root().string()});
  ASSERT_EQ(got.sources.size(), 2U);
  EXPECT_EQ(got.sources[0].origin.path, tree.path("a/y.json"));
  ASSERT_EQ(got.skipped.size(), 2U);
  EXPECT_EQ(got.skipped[0].path, tree.path("bad.json"));
  EXPECT_NE(got.skipped[1].reason.find("lies beside it"), std::string::npos);
}

TEST(ReportCollect, ANamedFileHasToBeOfUse) {
  const test::FileTree tree;
  const std::string bad = tree.write("bad.json", "{");
  for (const std::string& path : {bad, tree.path("none")}) {
    try {
      collected({path});
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kValue);
      EXPECT_TRUE(std::string(error.what()).starts_with("report: " + path + ": "));
    }
  }
}

TEST(ReportCollect, OnceHoweverOftenItIsGiven) {
  const test::FileTree tree;
  const std::string file = tree.write("x.json", kBench);
  const Documents got = collected({file, tree.root().string(), tree.root().string() + "/./x.json"});
  EXPECT_EQ(got.benches.size(), 1U);
}

}  // namespace
}  // namespace einkorn::report
