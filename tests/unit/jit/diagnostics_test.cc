#include "src/jit/diagnostics.h"

#include <array>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace einkorn::jit {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr std::array kEmbedded = {
    EmbeddedSource{"ops/a/k.cu", ""},
    EmbeddedSource{"src/cuda/device/common/all.cuh", ""},
    EmbeddedSource{"src/cuda/device/common/vec.cuh", ""},
};
HeaderSearch headers() { return {{"/mine/include"}, {"/toolkit/include"}, kEmbedded}; }

FirstError error_of(std::string_view log) {
  const auto error = first_error(log);
  EXPECT_TRUE(error.has_value()) << log;
  return error.value_or(FirstError{});
}

TEST(FirstError, FrontEndWithFileAndLine) {
  const FirstError error = error_of(
      "ops/x/y.cu(3): warning #177-D: variable \"x\" was declared but never referenced\n"
      "   int x\n"
      "ops/x/y.cu(12): error: identifier \"foo\" is undefined\n"
      "   foo=1;\n"
      "   ^\n"
      "ops/x/y.cu(14): error: expected a \";\"\n"
      "2 errors detected in the compilation of \"ops/x/y.cu\".\n");
  EXPECT_EQ(error.file, "ops/x/y.cu");
  EXPECT_EQ(error.line, 12);
  EXPECT_EQ(error.message, "identifier \"foo\" is undefined");
  EXPECT_THAT(hint_for(error, headers()), HasSubstr("include the header that declares it"));
}

TEST(FirstError, NumberedErrors) {
  const FirstError error = error_of("a.cu(7): error #20: identifier \"x\" is undefined\n");
  EXPECT_EQ(error.line, 7);
  EXPECT_EQ(error.message, "identifier \"x\" is undefined");
}

FirstError missing_header(std::string_view name) {
  return error_of(
      fmt::format("ops/x/y.cu(1): catastrophic error: could not open source file \"{}\" (no "
                  "directories in search list)\n",
                  name));
}

TEST(FirstError, AMissingHeaderTellsThePlacesSearched) {
  const FirstError error = missing_header("nope.h");
  EXPECT_EQ(error.line, 1);
  EXPECT_EQ(hint_for(error, headers()),
            "it was looked for in, one after the other:\n"
            "    the folder of the file that includes it, when it is quoted\n"
            "    /mine/include\n"
            "    einkorn's device headers, by their path in the tree\n"
            "    /toolkit/include");
  EXPECT_THAT(hint_for(error, {}), HasSubstr("Request::include_dirs (-I), of which none is given"));
}

TEST(FirstError, AMissingHeaderOfAnEmbeddedOnesName) {
  EXPECT_THAT(hint_for(missing_header("vec.cuh"), headers()),
              EndsWith("\n  hint: did you mean src/cuda/device/common/vec.cuh?"));
  EXPECT_THAT(hint_for(missing_header("src/cuda/device/comon/all.cuh"), headers()),
              EndsWith("did you mean src/cuda/device/common/all.cuh?"));
  EXPECT_THAT(hint_for(missing_header("ops/a/k.cu"), headers()), Not(HasSubstr("did you mean")));
}

TEST(FirstError, ToolkitHeadersPointToOurs) {
  const FirstError error = error_of(
      "y.cu(1): catastrophic error: could not open source file \"cuda_fp16.h\" (no directories in "
      "search list)\n");
  EXPECT_THAT(hint_for(error, headers()), HasSubstr("einkorn's device headers"));
  EXPECT_THAT(hint_for({"y.cu", 1, "identifier \"__half\" is undefined"}, headers()),
              HasSubstr("einkorn's device headers"));
}

TEST(FirstError, Assembler) {
  const FirstError error = error_of(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas application ptx input, line 23; error   : Unknown modifier '.instr'\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n");
  EXPECT_EQ(error.file, kAssemblerFile);
  EXPECT_EQ(error.line, 23);
  EXPECT_EQ(error.message, "Unknown modifier '.instr'");
}

TEST(FirstError, NameExpression) {
  const FirstError error =
      error_of("__nv_name_map(2): error: namespace \"e\" has no member \"missing\"\n");
  EXPECT_EQ(error.file, kEntryFile);
  EXPECT_THAT(hint_for(error, headers()), HasSubstr("fully qualified"));
}

TEST(FirstError, Options) {
  EXPECT_EQ(error_of("nvrtc: error: unrecognized option --bogus found\n").message,
            "unrecognized option --bogus found");
  EXPECT_THAT(
      error_of("Command-line error: invalid or no value specified with --nv_arch flag\n").message,
      HasSubstr("--nv_arch"));
}

TEST(FirstError, Nvcc) {
  const FirstError error = error_of(
      "./a/k.cuh(12): error: no operator \"+\" matches these operands\n"
      "            operand types are: S + S\n"
      "1 error detected in the compilation of \"k.cu\".\n");
  EXPECT_EQ(error.file, "./a/k.cuh");
  EXPECT_EQ(error.line, 12);
  EXPECT_EQ(error_of("nvcc fatal   : Unsupported gpu architecture 'compute_12'\n").message,
            "Unsupported gpu architecture 'compute_12'");
  EXPECT_THAT(hint_for(error_of("nvcc fatal   : Unknown option '-bogus'\n"), headers()),
              HasSubstr("go to the compiler as they are"));
}

TEST(FirstError, PtxasOnAFile) {
  const FirstError error =
      error_of("ptxas ../unit.ptx, line 23; error   : Unknown modifier '.instr'\n");
  EXPECT_EQ(error.file, kAssemblerFile);
  EXPECT_EQ(error.line, 23);
}

TEST(FirstError, HostCompilers) {
  const FirstError gcc = error_of(
      "In file included from k.cc:1:\n"
      "a.h: In function 'void f()':\n"
      "a.h:7:12: warning: unused variable 'error: x' [-Wunused-variable]\n"
      "a.h:9:3: error: 'g' was not declared in this scope\n");
  EXPECT_EQ(gcc.file, "a.h");
  EXPECT_EQ(gcc.line, 9);
  EXPECT_EQ(gcc.message, "'g' was not declared in this scope");
  EXPECT_THAT(hint_for(gcc, headers()), HasSubstr("include the header"));

  const FirstError missing = error_of(
      "k.cc:1:10: fatal error: nope.h: No such file or directory\ncompilation terminated.\n");
  EXPECT_EQ(missing.line, 1);
  EXPECT_THAT(hint_for(missing, headers()), HasSubstr("/mine/include"));

  EXPECT_EQ(error_of("k.cc:12: error: unterminated #if\n").line, 12);
  EXPECT_EQ(error_of("C:dir/k.cc:3:4: error: x\n").file, "C:dir/k.cc");
}

TEST(FirstError, HostDrivers) {
  const FirstError option = error_of("g++: error: unrecognized command-line option '-fbogus'\n");
  EXPECT_EQ(option.file, "");
  EXPECT_EQ(option.line, 0);
  EXPECT_EQ(option.message, "unrecognized command-line option '-fbogus'");
  EXPECT_FALSE(hint_for(option, headers()).empty());
}

TEST(FirstError, Linkers) {
  const FirstError undefined = error_of(
      "/usr/bin/ld: ../unit.o: in function `f':\n"
      "k.cc:(.text+0x5): undefined reference to `missing'\n"
      "collect2: error: ld returned 1 exit status\n");
  EXPECT_EQ(undefined.message, "undefined reference to `missing'");
  EXPECT_THAT(hint_for(undefined, headers()), HasSubstr("-l<name>"));
  const FirstError library = error_of(
      "/usr/bin/ld: cannot find -lnope: No such file or directory\n"
      "collect2: error: ld returned 1 exit status\n");
  EXPECT_THAT(library.message, HasSubstr("cannot find -lnope"));
  EXPECT_THAT(hint_for(library, headers()), HasSubstr("-L<folder>"));
  EXPECT_EQ(error_of("ld.lld: error: undefined symbol: f\n").message, "undefined symbol: f");
}

TEST(FirstError, NothingInACleanLog) {
  EXPECT_FALSE(first_error("").has_value());
  EXPECT_FALSE(first_error("a.cu(1): warning #1: errors ahead\n").has_value());
  EXPECT_FALSE(first_error("ptxas info    : Used 10 registers, used 0 barriers\n").has_value());
  EXPECT_FALSE(first_error("(: ): error\n): error\n(((").has_value());
}

TEST(ParseResources, OneForEachEntryFunction) {
  const auto found = parse_resources(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function '_Z1aPf' for 'sm_90a'\n"
      "ptxas info    : Function properties for _Z1aPf\n"
      "ptxas         .     400 bytes stack frame, 396 bytes spill stores, 392 bytes spill loads\n"
      "ptxas info    : Used 16 registers, used 1 barriers, 400 bytes cumulative stack size, 256 "
      "bytes smem\n"
      "ptxas info    : Compile time = 17.707 ms\n"
      "ptxas info    : Compiling entry function '_Z1bPf' for 'sm_80'\n"
      "ptxas info    : Function properties for _Z1bPf\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 255 registers, 368 bytes cmem[0]\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].lowered, "_Z1aPf");
  EXPECT_EQ(found[0].resources.registers, 16);
  EXPECT_EQ(found[0].resources.static_smem, 256);
  EXPECT_EQ(found[0].resources.stack_bytes, 400);
  EXPECT_EQ(found[0].resources.spill_stores, 396);
  EXPECT_EQ(found[0].resources.spill_loads, 392);
  EXPECT_EQ(found[1].lowered, "_Z1bPf");
  EXPECT_EQ(found[1].resources.registers, 255);
  EXPECT_EQ(found[1].resources.static_smem, 0);
}

TEST(ParseResources, DeviceFunctionsDoNotCountAsTheirKernel) {
  const auto found = parse_resources(
      "ptxas info    : Compiling entry function '_Z1aPf' for 'sm_90a'\n"
      "ptxas info    : Function properties for _Z1aPf\n"
      "    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 16 registers\n"
      "ptxas info    : Function properties for _Z6calleePf\n"
      "    64 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].resources.stack_bytes, 8);
  EXPECT_EQ(found[0].resources.spill_stores, 0);
}

}  // namespace
}  // namespace einkorn::jit
