// Whatever a compilation reads is in its key: a file edited is a kernel compiled anew. With the
// real compilers, and as a later process would ask: with nothing in memory.

#include <filesystem>
#include <string>
#include <vector>

#include <einkorn/jit.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/jit/compiler.h"
#include "src/jit/include_options.h"
#include "tests/unit/file_tree.h"
#include "tests/unit/golden.h"

namespace einkorn::jit {
namespace {

using test::error_text;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kKernel = "\nextern \"C\" __global__ void k(int* x) { *x = VALUE; }\n";
constexpr const char* kFunction = "\nextern \"C\" int f() { return VALUE; }\n";

/// The working folder of a scope.
struct WorkingFolder {
  explicit WorkingFolder(const std::filesystem::path& folder) {
    std::filesystem::current_path(folder);
  }
  ~WorkingFolder() { std::filesystem::current_path(before); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

  std::filesystem::path before = std::filesystem::current_path();
};

class KeyCoverage : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    return files_.write(name, text);
  }
  /// The key under which a process that has nothing in memory gets its artifact.
  static std::string key(const Request& request) {
    forget();
    return compile(request)->key;
  }
  /// A header gets another value: the same request is another artifact, and the old one again when
  /// the header is as it was.
  void expect_followed(const Request& request, const std::string& header) {
    write(header, "#define VALUE 777\n");
    const std::string first = key(request);
    EXPECT_EQ(key(request), first);
    write(header, "#define VALUE 778\n");
    EXPECT_NE(key(request), first);
    write(header, "#define VALUE 777\n");
    EXPECT_EQ(key(request), first);
  }
  Request cuda(const std::string& source, std::vector<std::string> options = {}) {
    return {.file = write("k.cu", source + kKernel),
            .instantiate = "k",
            .arch = "sm_90a",
            .options = std::move(options)};
  }
  Request cpu(const std::string& source, std::vector<std::string> options = {}) {
    return {.file = write("f.cc", source + kFunction),
            .options = std::move(options),
            .target = Target::kCpu};
  }
  bool nvcc_is_here() { return !nvcc_compiler().refusal({}); }

  const test::FileTree files_;
};

TEST_F(KeyCoverage, Headers) {
  expect_followed(cuda("#include \"value.h\""), "value.h");
  expect_followed(cuda("%:include \"value.h\""), "value.h");
  expect_followed(cuda("#incl\\\nude \"value.h\""), "value.h");
  expect_followed(cpu("#include \"value.h\""), "value.h");
}

TEST_F(KeyCoverage, FoldersOfTheOptions) {
  const std::string folder = files_.path("headers");
  write("headers/value.h", "");
  for (const std::vector<std::string>& options :
       {std::vector{"-I" + folder}, {"-I", folder}, {"--include-path=" + folder}}) {
    expect_followed(cuda("#include <value.h>", options), "headers/value.h");
  }
  expect_followed(cpu("#include <value.h>", {"-isystem", folder}), "headers/value.h");
}

TEST_F(KeyCoverage, NvrtcReadsNothingFromTheDisk) {
  // The working folder is where it would look for what a macro names.
  const WorkingFolder here(files_.root());
  write("value.h", "#define VALUE 777\n");
  Request request = cuda("#define NAME \"value.h\"\n#include NAME");
  request.file = "k.cu";
  request.compiler = "nvrtc";
  EXPECT_THAT(error_text([&] { compile(request); }), HasSubstr("could not open source file"));
}

TEST_F(KeyCoverage, FilesThatAMacroNamesAreForNvcc) {
  const Request request = cuda("#define NAME \"value.h\"\n#include NAME");
  if (!nvcc_is_here()) GTEST_SKIP() << "no nvcc";
  expect_followed(request, "value.h");
  expect_followed(cpu("#define NAME \"value.h\"\n#include NAME"), "value.h");
}

TEST_F(KeyCoverage, FilesThatAnOptionNames) {
  const std::string option = "-include=" + write("value.h", "#define VALUE 777\n");
  Request request = cuda("", {option});
  request.compiler = "nvrtc";
  EXPECT_THAT(error_text([&] { compile(request); }),
              HasSubstr(option + ": it names a file that would be in no key"));
  request.compiler.clear();
  if (nvcc_is_here()) expect_followed(request, "value.h");
}

TEST_F(KeyCoverage, SearchPathsOfTheEnvironment) {
  write("one/value.h", "#define VALUE 1\n");
  write("two/value.h", "#define VALUE 2\n");
  const Request request = cpu("#include <value.h>");
  const auto found_in = [&](const char* folder) {
    const test::Variable search("CPATH", files_.path(folder));
    return key(request);
  };
  const std::string one = found_in("one");
  EXPECT_NE(found_in("two"), one);
  EXPECT_EQ(found_in("one"), one);
}

TEST(IncludeOptions, FoldersAreTakenOut) {
  std::vector<std::string> options = {
      "-O3",  "-Ia",      "-I", "b",     "--include-path=c", "--include-path", "d",
      "-I e", "-isystem", "f",  "-DI=-I"};
  EXPECT_THAT(take_include_folders(options), ElementsAre("a", "b", "c", "d", "e", "f"));
  EXPECT_THAT(options, ElementsAre("-O3", "-DI=-I"));
  options = {"-lineinfo", "-I"};  // the compiler will say what is missing
  EXPECT_THAT(take_include_folders(options), IsEmpty());
  EXPECT_THAT(options, ElementsAre("-lineinfo", "-I"));
}

TEST(IncludeOptions, OnesThatReadFiles) {
  for (const char* option : {"-include=a.h", "-include", "--pre-include=a.h", "--options-file=x",
                             "@flags", "--use-pch=a.pch", "-imacros"}) {
    EXPECT_EQ(option_that_reads({"-O3", option}), option);
  }
  EXPECT_EQ(option_that_reads({"-O3", "-DA=1", "-Iinclude", "--include-path=a", "-lineinfo"}), "");
}

}  // namespace
}  // namespace einkorn::jit
