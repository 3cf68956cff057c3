#include "src/jit/disassemble.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/jit/cubin.h"
#include "tests/unit/file_tree.h"
#include "tests/unit/golden.h"
#include "tests/unit/jit/compile_cubin.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class DisassembleTest : public testing::Test {
 protected:
  DisassembleTest() { roots_.default_toolkit = root_ + "/default"; }

  /// A program below the test's folder: a shell script.
  std::string program(const std::string& path, const std::string& script = "exit 0") const {
    const fs::path full = fs::path(root_) / path;
    fs::create_directories(full.parent_path());
    std::ofstream(full) << "#!/bin/sh\n" << script << "\n";
    chmod(full.c_str(), 0755);
    return full.string();
  }

  std::string found() const { return find_disassembler(roots_).path.value_or("none"); }

  test::FileTree tree_{};
  std::string root_ = tree_.root().string();
  DisassemblerRoots roots_;
};

// Each step adds a program to a place that is searched before the last one's.
TEST_F(DisassembleTest, OrderOfPlaces) {
  roots_.path = "/nowhere:" + root_ + "/path";
  roots_.common.toolkits = {root_ + "/home", root_ + "/cuda_path"};
  roots_.common.virtual_env = root_ + "/venv";
  EXPECT_EQ(found(), "none");
  const std::string site = "venv/lib/python3.11/site-packages/";
  std::string expected;
  for (const std::string& path :
       {site + "triton/backends/nvidia/bin/cuobjdump", site + "triton/backends/nvidia/bin/nvdisasm",
        site + "nvidia/cu13/bin/nvdisasm", std::string("default/bin/cuobjdump"),
        std::string("default/bin/nvdisasm"), std::string("cuda_path/bin/nvdisasm"),
        std::string("home/bin/cuobjdump"), std::string("home/bin/nvdisasm"),
        std::string("path/cuobjdump"), std::string("path/nvdisasm")}) {
    expected = program(path);
    EXPECT_EQ(found(), expected);
  }
  roots_.common.override_path = root_ + "/named";
  EXPECT_EQ(found(), "none") << "nothing else is tried";
  expected = program("named");
  EXPECT_EQ(found(), expected);
}

TEST_F(DisassembleTest, FilesThatAreNoProgramsAreNotTaken) {
  roots_.path = root_ + "/path";
  fs::create_directories(root_ + "/path/nvdisasm");
  std::ofstream(root_ + "/path/cuobjdump") << "text";
  EXPECT_EQ(found(), "none");
}

TEST_F(DisassembleTest, PassesTheBytesInAFileAndCleansUp) {
  roots_.common.override_path = program("nvdisasm", R"(echo "$1 $2"; cat "$2"; exit 0)");
  const std::string bytes("a\0\xff\n", 4);
  const std::string text = disassemble(std::as_bytes(std::span(bytes)), roots_);
  EXPECT_THAT(text, StartsWith("-c /"));
  const std::string file = text.substr(3, text.find('\n') - 3);
  EXPECT_EQ(text.substr(text.find('\n') + 1), bytes);
  EXPECT_FALSE(fs::exists(file)) << file;
}

TEST_F(DisassembleTest, CuobjdumpHasItsOwnOption) {
  roots_.common.override_path = program("cuobjdump-13", "echo \"$1\"");
  EXPECT_EQ(disassemble({}, roots_), "-sass\n");
}

TEST_F(DisassembleTest, WhatTheToolSaidIsInTheError) {
  roots_.common.override_path =
      program("nvdisasm", "echo part; echo 'nvdisasm fatal: SM200 is unknown' >&2; exit 3");
  EXPECT_EQ(test::error_text([&] { disassemble({}, roots_); }),
            "RuntimeError: disassemble: " + *roots_.common.override_path +
                ": exit status 3\n  it said: nvdisasm fatal: SM200 is unknown\n"
                "  hint: a disassembler that is older than the kernel's architecture does not know "
                "its instructions");
}

TEST_F(DisassembleTest, MissingToolListsThePlaces) {
  roots_.path = "/nowhere/bin";
  roots_.common.toolkits = {"/nowhere/cuda"};
  roots_.common.virtual_env = "/nowhere/venv";
  roots_.default_toolkit = "/nowhere/default";
  EXPECT_EQ(test::error_text([&] { disassemble({}, roots_); }),
            "RuntimeError: nvdisasm: missing: neither it nor cuobjdump is in any of 4 places\n"
            "  tried: PATH (/nowhere/bin)\n"
            "  tried: /nowhere/cuda/bin\n"
            "  tried: /nowhere/default/bin\n"
            "  tried: CUDA wheels and Triton in Python environments (/nowhere/venv)\n"
            "  hint: pip install nvidia-cuda-nvdisasm, or install the CUDA toolkit, or set "
            "EINKORN_NVDISASM to its full path");
  roots_.common.override_path = "/nowhere/nvdisasm";
  EXPECT_EQ(test::error_text([&] { disassemble({}, roots_); }),
            "RuntimeError: nvdisasm: missing: EINKORN_NVDISASM=/nowhere/nvdisasm is no program\n"
            "  tried: /nowhere/nvdisasm\n"
            "  hint: correct EINKORN_NVDISASM or unset it to search the usual places");
}

/// How often one of the words begins an instruction, after its address and predicate.
std::int64_t count_instructions(const std::string& text, const std::string& word) {
  std::int64_t count = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t address = line.find("*/");
    if (address == std::string::npos) continue;
    std::istringstream words(line.substr(address + 2));
    std::string operation;
    words >> operation;
    if (operation.starts_with('@')) words >> operation;
    if (operation == word || operation.starts_with(word + ".")) ++count;
  }
  return count;
}

TEST(Disassemble, TheRealToolAgreesWithTheCubinReader) {
  if (!find_disassembler(DisassemblerRoots::of_process()).path) {
    GTEST_SKIP() << "neither nvdisasm nor cuobjdump is here";
  }
  const std::string source = R"(
    extern "C" __global__ void spilling(float* p, int stride) {
      float v[64];
      #pragma unroll
      for (int i = 0; i < 64; ++i) v[i] = p[i * stride + threadIdx.x];
      #pragma unroll
      for (int i = 0; i < 64; ++i) p[i * stride + threadIdx.x] = v[63 - i] * v[(i * 7) % 64];
    })";
  for (const char* arch : {"sm_80", "sm_90a", "sm_100a"}) {
    if (!test::nvrtc_knows(std::stoi(arch + 3))) continue;
    SCOPED_TRACE(arch);
    const auto bytes = test::compile_cubin(source, {"spilling"}, arch, {"--maxrregcount=24"}).bytes;
    const std::string text = disassemble(bytes);
    EXPECT_THAT(text, AllOf(HasSubstr("spilling"), HasSubstr("EXIT")));
    const Cubin cubin = read_cubin(bytes);
    ASSERT_EQ(cubin.kernels.size(), 1u);
    EXPECT_GT(cubin.kernels[0].local_loads, 0);
    EXPECT_EQ(count_instructions(text, "LDL"), cubin.kernels[0].local_loads);
    EXPECT_EQ(count_instructions(text, "STL"), cubin.kernels[0].local_stores);
  }
}

}  // namespace
}  // namespace einkorn::jit
