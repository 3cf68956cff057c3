// The headers under the toolkit's own compiler, where there is one.

#include <filesystem>
#include <fstream>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "src/core/subprocess.h"
#include "src/jit/nvcc.h"
#include "tests/unit/cuda/device_common.h"
#include "tests/unit/file_tree.h"
#include "tests/unit/source_dir.h"

namespace einkorn::device_common {
namespace {

namespace fs = std::filesystem;

/// Quiet, which nvcc is with neither warnings nor spills.
void expect_clean_under_nvcc(const std::string& nvcc, const Part& part, const fs::path& folder,
                             std::span<const char* const> arches) {
  SCOPED_TRACE(part.header);
  const fs::path source = folder / (part.header + ".cu");
  std::string addresses;
  for (const std::string& kernel : part.kernels) {
    addresses += fmt::format("    reinterpret_cast<const void*>(&{}),\n", kernel);
  }
  std::ofstream(source) << kernels_of(part.header)
                        << "extern const void* const kernels[];\nconst void* const kernels[] = {\n"
                        << addresses << "};\n";
  std::vector<std::string> command = {nvcc,
                                      "-fatbin",
                                      "-std=c++20",
                                      "-I",
                                      test::source_dir(),
                                      "-Xptxas",
                                      "-warn-spills,-warn-lmem-usage",
                                      "-Werror",
                                      "all-warnings"};
  for (const char* arch : arches) {
    command.emplace_back("-gencode");
    command.push_back(fmt::format("arch=compute_{0},code=sm_{0}", arch + 3));
  }
  command.insert(command.end(),
                 {"-o", (folder / (part.header + ".fatbin")).string(), source.string()});
  const subprocess::Result result = subprocess::run(command);
  EXPECT_TRUE(result.ok()) << fmt::format("{}", fmt::join(command, " "));
  EXPECT_EQ(result.output + result.errors, "");
}

class UnderNvcc : public testing::Test {
 protected:
  void SetUp() override {
    const jit::ProgramSearch search = jit::find_nvcc(jit::NvccRoots::of_process());
    if (!search.path) {
      GTEST_SKIP() << fmt::format("no nvcc in {}", fmt::join(search.tried, ", "));
    }
    nvcc_ = *search.path;
  }

  std::string nvcc_;
  test::FileTree tree_;
  const fs::path& folder_ = tree_.root();
};

// One architecture will do: what differs between them is in the next test.
TEST_F(UnderNvcc, EachHeaderIsEnoughAlone) {
  for (const Part& part : parts()) {
    expect_clean_under_nvcc(nvcc_, part, folder_, std::span(kArches).subspan(1, 1));
  }
}

TEST_F(UnderNvcc, AllTogether) { expect_clean_under_nvcc(nvcc_, whole_part(), folder_, kArches); }

}  // namespace
}  // namespace einkorn::device_common
