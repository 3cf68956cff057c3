#include "src/jit/failure.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/file.h"
#include "tests/unit/jit/compiler_tests.h"

namespace einkorn::jit {
namespace {

using test::FileTree;
using test::Variable;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Failure : public testing::Test {
 protected:
  Failure() : tmpdir_("TMPDIR", temporary_.root().string()) {
    inputs_.arch = "sm_90a";
    inputs_.content.bytes = {0x00, 0xc0, 0xff, 0xee};
    inputs_.entries = {"k<float>", "k<int>"};
    inputs_.sources.files = {{"k.cu", "", "/tree/k.cu"},
                             {"../common/a.cuh", "", "/tree/common/a.cuh"},
                             {"ops/x/y.cuh", "", "<embedded>/ops/x/y.cuh"},
                             {"text.cuh", "", "<memory>"}};
  }

  std::string text(std::string_view log) const {
    return compile_failure(inputs_, "nvcc 13.0", log).what();
  }

  FileTree temporary_;
  Variable tmpdir_;
  CompileInputs inputs_;
};

TEST_F(Failure, FirstErrorContextHintAndLog) {
  const std::string log = "k.cu(3): warning #1: x\nk.cu(7): error: identifier \"f\" is undefined\n";
  const std::string message = text(log);
  EXPECT_THAT(message,
              StartsWith("jit: /tree/k.cu(7): error: identifier \"f\" is undefined\n"
                         "  entry: k<float>, k<int>  arch: sm_90a  compiler: nvcc 13.0  "
                         "key: 00c0ffee0000\n  hint: include the header that declares it"));
  const std::string mark = "\n  full log: ";
  ASSERT_THAT(message, HasSubstr(mark));
  EXPECT_EQ(read_file(message.substr(message.find(mark) + mark.size())).text, log);
  EXPECT_EQ(compile_failure(inputs_, "", log).kind(), ErrorKind::kRuntime);
}

TEST_F(Failure, FilesAreNamedAsAPersonFindsThem) {
  EXPECT_THAT(text("../common/a.cuh(2): error: x\n"), StartsWith("jit: /tree/common/a.cuh(2): "));
  EXPECT_THAT(text("./ops/x/y.cuh(2): error: x\n"), StartsWith("jit: ops/x/y.cuh(2): error: x"));
  EXPECT_THAT(text("./text.cuh:4:1: error: x\n"), StartsWith("jit: text.cuh(4): error: x"));
  EXPECT_THAT(text("/usr/include/c.h:4:1: error: x\n"), StartsWith("jit: /usr/include/c.h(4): "));
}

TEST_F(Failure, ErrorsWithoutALineOfTheSource) {
  EXPECT_THAT(text("__nv_name_map(2): error: x\n"), StartsWith("jit: /tree/k.cu: error: x\n"));
  EXPECT_THAT(text("ptxas unit.ptx, line 23; error   : x\n"),
              StartsWith("jit: /tree/k.cu: ptxas, line 23 of the PTX: error: x\n"));
  EXPECT_THAT(text("ptxas fatal   : x\n"), StartsWith("jit: /tree/k.cu: ptxas: error: x\n"));
  EXPECT_THAT(text("nvcc fatal   : x\n"), StartsWith("jit: /tree/k.cu: error: x\n"));
  EXPECT_THAT(text(""), StartsWith("jit: /tree/k.cu: error: the compiler gave no reason\n"));
  EXPECT_THAT(text("ptxas info    : Compiling entry function '_Z1kv' for 'sm_90a'\n"
                   "ptxas info    : Used 8 registers, 50000 bytes smem\n"),
              HasSubstr("too much shared data: _Z1kv takes 50000 bytes, expected at most 49152"));
}

TEST_F(Failure, WithoutEntriesAndWithoutALogFile) {
  inputs_.entries.clear();
  inputs_.sources.files[0].path = "<memory>";
  const Variable nowhere("TMPDIR", "/nowhere");
  const std::string message = text("k.cu(7): error: x\n");
  EXPECT_THAT(
      message,
      StartsWith(
          "jit: k.cu(7): error: x\n  arch: sm_90a  compiler: nvcc 13.0  key: 00c0ffee0000\n"));
  EXPECT_THAT(message, HasSubstr("full log, which could not be written (/nowhere/"));
  EXPECT_THAT(message, HasSubstr("):\nk.cu(7): error: x"));
  EXPECT_THAT(message, Not(HasSubstr("entry:")));
}

}  // namespace
}  // namespace einkorn::jit
