// Scripts in the place of nvcc.

#include "src/jit/nvcc.h"

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/jit/compiler.h"
#include "tests/unit/jit/compiler_tests.h"

namespace einkorn::jit {
namespace {

using test::FileTree;
using test::thrown_text;
using test::Variable;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Nvcc, RefusesWhatItCannotCompile) {
  CompileInputs inputs;
  inputs.sources.files.push_back({"k.cu", "", "<memory>"});
  {
    const Variable missing("EINKORN_NVCC", "/nowhere/nvcc");
    const std::string reason = nvcc_compiler().refusal(inputs).value_or("");
    EXPECT_THAT(reason, HasSubstr("/nowhere/nvcc (EINKORN_NVCC; nothing else is tried)"));
    EXPECT_THAT(reason, HasSubstr("hint: install the CUDA toolkit"));
  }
  const FileTree files;
  const Variable named("EINKORN_NVCC", files.write_script("nvcc", "exit 1\n"));
  {
    const Variable host("NVCC_CCBIN", files.write_script("gcc", "exit 1\n"));
    EXPECT_EQ(nvcc_compiler().refusal(inputs), std::nullopt);
    inputs.options = {"-DX=$HOME"};
    EXPECT_THAT(nvcc_compiler().refusal(inputs).value_or(""), HasSubstr("a shell interpret '$'"));
    inputs.options = {};
  }
  const Variable host("NVCC_CCBIN", "/nowhere/gcc");
  EXPECT_THAT(nvcc_compiler().refusal(inputs).value_or(""), HasSubstr("NVCC_CCBIN names none"));
  inputs.target = Target::kCpu;
  EXPECT_NE(nvcc_compiler().refusal(inputs), std::nullopt);
}

TEST(Nvcc, IsLookedForInOrder) {
  const FileTree files;
  NvccRoots roots;
  roots.path = files.path("bin") + ":" + files.path("other");
  roots.toolkits = {files.path("toolkit"), files.path("second")};
  ProgramSearch search = find_nvcc(roots);
  EXPECT_EQ(search.path, std::nullopt);
  EXPECT_THAT(search.tried, ElementsAre("PATH: " + roots.path, files.path("toolkit/bin/nvcc"),
                                        files.path("second/bin/nvcc")));
  files.write_script("second/bin/nvcc", "");
  EXPECT_EQ(find_nvcc(roots).path, files.path("second/bin/nvcc"));
  files.write("toolkit/bin/nvcc", "not executable");
  EXPECT_EQ(find_nvcc(roots).path, files.path("second/bin/nvcc"));
  files.write_script("other/nvcc", "");
  EXPECT_EQ(find_nvcc(roots).path, files.path("other/nvcc"));
  roots.override_path = files.path("second/bin/nvcc");
  EXPECT_EQ(find_nvcc(roots).path, files.path("second/bin/nvcc"));
}

TEST(Nvcc, IdentityChangesWithWhatIsInstalled) {
  const FileTree files;
  const std::string version =
      "echo 'Cuda compilation tools, release 13.0, V13.0.88'; echo 'Build cuda_13.0/compiler.";
  const std::string nvcc = files.write_script("bin/nvcc", version + "1'\n");
  const Variable host("NVCC_CCBIN", files.write_script("gcc", "echo 'gcc 12.2'\n"));
  const std::string first = nvcc_identity(nvcc);
  EXPECT_EQ(nvcc_version(nvcc), "13.0");
  EXPECT_THAT(first, HasSubstr("V13.0.88 Build cuda_13.0/compiler.1, programs "));
  EXPECT_THAT(first, HasSubstr("host gcc 12.2 for gcc 12.2"));

  files.write_script("bin/nvcc", version + "22'\n");
  const std::string upgraded = nvcc_identity(nvcc);
  EXPECT_THAT(upgraded, HasSubstr("compiler.22"));
  files.write_script("gcc", "echo 'gcc 12.2.1'\n");
  EXPECT_NE(nvcc_identity(nvcc), upgraded);
  const std::string before = nvcc_identity(nvcc);
  files.write("nvvm/bin/cicc", "another one");
  EXPECT_NE(nvcc_identity(nvcc), before);
  files.write("version.json", "{}");
  EXPECT_THAT(nvcc_identity(nvcc), StartsWith("nvcc version.json "));
}

TEST(Nvcc, ACrashIsNoFailureOfTheSource) {
  const FileTree files;
  const std::string start = "case \"$*\" in *--version*) echo 'release 13.0, V'; exit 0;; esac\n";
  CompileInputs inputs = resolve_inputs(
      {.file = "y.cu", .source = "__global__ void k() {}", .instantiate = "k", .arch = "sm_90a"});
  {
    const Variable nvcc("EINKORN_NVCC", files.write_script("a", start + "kill -SEGV $$\n"));
    EXPECT_THAT(thrown_text([&] { nvcc_compiler().compile(inputs); }),
                StartsWith("jit: y.cu: the compiler crashed: signal 11 (Segmentation fault)\n"
                           "  entry: k  arch: sm_90a  compiler: nvcc 13.0  key: "));
  }
  const Variable nvcc("EINKORN_NVCC",
                      files.write_script("b", start + "echo \"nvcc error   : 'cicc' died due to "
                                                      "signal 9 (Kill signal)\" >&2; exit 9\n"));
  EXPECT_THAT(thrown_text([&] { nvcc_compiler().compile(inputs); }),
              HasSubstr("crashed: nvcc error   : 'cicc' died due to signal 9"));
}

}  // namespace
}  // namespace einkorn::jit
