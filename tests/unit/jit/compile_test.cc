// Compiles with the real NVRTC, which needs no GPU.

#include <einkorn/jit.h>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/jit/embedded.h"
#include "src/jit/nvrtc.h"
#include "tests/unit/file_tree.h"
#include "tests/unit/golden.h"

namespace einkorn::jit {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kReverse = R"(
namespace test {
template <class T, int N>
__global__ void reverse(T* p) {
  __shared__ T s[N * 32];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[N * 32 - 1 - threadIdx.x];
}
}  // namespace test
)";

// Each thread keeps more values alive than 16 registers can hold.
constexpr const char* kSpilling = R"(
extern "C" __global__ void spilling(float* p, int stride) {
  float v[64];
  #pragma unroll
  for (int i = 0; i < 64; ++i) v[i] = p[i * stride + threadIdx.x];
  #pragma unroll
  for (int i = 0; i < 64; ++i) p[i * stride + threadIdx.x] = v[63 - i] * v[(i * 7) % 64];
}
)";

Request request(std::string source, std::vector<std::string> entries, std::string arch = "sm_90a",
                std::vector<std::string> options = {}) {
  return {"ops/x/y.cu", std::move(source), std::move(entries), std::move(arch), std::move(options)};
}

/// Without the parts that differ from run to run, and from one NVRTC to the next.
std::string stable(std::string text) {
  const auto cut = [&text](const std::string& from, char until, const std::string& with) {
    const std::size_t begin = text.find(from);
    if (begin == std::string::npos) return;
    const std::size_t end = std::min(text.find(until, begin + from.size()), text.size());
    text.replace(begin, end - begin, with);
  };
  cut("nvrtc ", '\n', "nvrtc <version>");
  cut("full log: ", '\n', "full log: <path>");
  cut("ptxas, line ", ' ', "ptxas, line <n>");
  return text;
}

// NVRTC's short prelude declares neither; the whole one is tried then.
TEST(Compile, ASourceMayUseTextures) {
  const Program program =
      compile(request("extern \"C\" __global__ void look(cudaTextureObject_t t, float* p) {\n"
                      "  *p = tex2D<float>(t, 0.5f, 0.5f);\n"
                      "}\n",
                      {"look"}));
  EXPECT_FALSE(program->image.empty());
}

TEST(Compile, TwoInstancesOfATemplate) {
  const auto artifact =
      compile(request(kReverse, {"test::reverse<float, 4>", "test::reverse<int,2>"}));
  ASSERT_EQ(artifact->entries.size(), 2u);
  EXPECT_EQ(artifact->entries[0].expression, "test::reverse<float, 4>");
  EXPECT_EQ(artifact->entries[0].lowered, "_ZN4test7reverseIfLi4EEEvPT_");
  EXPECT_EQ(artifact->entries[1].lowered, "_ZN4test7reverseIiLi2EEEvPT_");
  EXPECT_GT(artifact->entries[0].resources.registers, 0);
  EXPECT_EQ(artifact->entries[0].resources.static_smem, 512);
  EXPECT_EQ(artifact->entries[1].resources.static_smem, 256);
  EXPECT_EQ(artifact->entries[0].resources.spill_stores, 0);
  EXPECT_THAT(artifact->compiler, StartsWith("nvrtc 1"));
  EXPECT_GT(artifact->compile_ms, 0);
  ASSERT_GT(artifact->image.size(), 4u);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(artifact->image.data()) + 1, 3), "ELF");
}

// A machine with a toolkit finds some built-ins anyway; these have to be the library's own.
TEST(Compile, TheBuiltinsAreThoseBesideTheCompiler) {
  const Nvrtc& compiler = nvrtc();
  const std::string soname = "libnvrtc-builtins.so." + std::to_string(compiler.major) + "." +
                             std::to_string(compiler.minor);
  const std::filesystem::path beside =
      std::filesystem::path(compiler.library.path()).parent_path() / soname;
  if (!std::filesystem::exists(beside)) GTEST_SKIP() << "no " << soname << " beside the compiler";
  void* loaded = dlopen(soname.c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(loaded, nullptr) << "not in the process before the first compile";
  link_map* map = nullptr;
  ASSERT_EQ(dlinfo(loaded, RTLD_DI_LINKMAP, static_cast<void*>(&map)), 0);
  EXPECT_TRUE(std::filesystem::equivalent(map->l_name, beside)) << map->l_name;
}

TEST(Compile, SpillsAreReported) {
  const auto artifact = compile(request(kSpilling, {"spilling"}, "sm_80", {"--maxrregcount=24"}));
  const Resources& resources = artifact->entries[0].resources;
  EXPECT_LE(resources.registers, 24);
  EXPECT_GT(resources.spill_stores, 0);
  EXPECT_GT(resources.spill_loads, 0);
  EXPECT_GT(resources.stack_bytes, 0);
}

TEST(Compile, WarningsAreKept) {
  const auto artifact = compile(request("extern \"C\" __global__ void k() { int unused; }", {"k"}));
  EXPECT_THAT(artifact->log, HasSubstr("unused"));
}

TEST(Compile, EveryEmbeddedHeaderCanBeIncluded) {
  for (const EmbeddedSource& header : embedded_sources()) {
    if (header.path.ends_with(".cu") || header.path.find("/sm100/") != std::string::npos) continue;
    const std::string source =
        "#include \"" + std::string(header.path) + "\"\n" + "extern \"C\" __global__ void k() {}\n";
    EXPECT_NO_THROW(compile(request(source, {"k"}))) << header.path;
  }
}

TEST(Compile, ThreadsAskingForOneRequestCompileItOnce) {
  const Request same = request(std::string(kReverse) + "// once\n", {"test::reverse<double, 1>"});
  const std::uint64_t before = compile_count();
  std::vector<Program> got(16);
  {
    std::vector<std::jthread> threads;
    threads.reserve(got.size());
    for (auto& slot : got) {
      threads.emplace_back([&slot, &same] {
        try {
          slot = compile(same);
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();  // out of a thread it would end all tests
        }
      });
    }
  }
  EXPECT_EQ(compile_count() - before, 1u);
  for (const Program& program : got) EXPECT_EQ(&program.artifact(), &got[0].artifact());
  compile(request(same.source, same.instantiate, "sm_80"));
  EXPECT_EQ(compile_count() - before, 2u);
}

TEST(Compile, AFailureIsNotTriedAgain) {
  const Request bad = request("extern \"C\" __global__ void k() { once_only; }", {"k"});
  const std::uint64_t before = compile_count();
  const std::string first = test::error_text([&] { compile(bad); });
  EXPECT_EQ(test::error_text([&] { compile(bad); }), first);
  EXPECT_EQ(compile_count() - before, 1u);
}

TEST(CompileError, Texts) {
  test::GoldenErrors errors("errors/compile.txt");
  const auto add = [&errors](std::string_view title, const Request& bad) {
    errors.add(title, [&] {
      try {
        compile(bad);
      } catch (const Error& error) {
        throw Error(error.kind(), stable(error.what()));
      }
    });
  };
  add("undefined identifier", request("\nextern \"C\" __global__ void k() { foo = 1; }", {"k"}));
  add("half without the device headers",
      request("extern \"C\" __global__ void k() { __half x; }", {"k"}));
  add("host function", request("void f() {}\nextern \"C\" __global__ void k() { f(); }", {"k"}));
  add("no such entry", request(kReverse, {"test::revers<float, 4>"}));
  add("static assertion",
      request(R"(template <int N> __global__ void k() { static_assert(N == 2, "N must be 2"); })",
              {"k<3>"}));
  add("unknown instruction",
      request(R"(extern "C" __global__ void k() { asm volatile("bogus;"); })", {"k"}));
  add("static shared memory",
      request("extern \"C\" __global__ void k(float* p) { __shared__ float s[65536]; "
              "s[threadIdx.x] = *p; __syncthreads(); *p = s[1]; }",
              {"k"}));
  add("unknown option", request(kReverse, {"test::reverse<int, 1>"}, "sm_80", {"--bogus"}));
  add("suffix that the architecture does not have",
      request(kReverse, {"test::reverse<int, 1>"}, "sm_80a"));
}

TEST(CompileError, AMissingHeaderTellsThePlacesSearchedAndTheLikeNamed) {
  const test::FileTree files;
  jit::Request wanted =
      request("#include \"src/cuda/vec.cuh\"\nextern \"C\" __global__ void k() {}", {"k"});
  wanted.include_dirs = {files.root().string()};
  const std::string text = test::error_text([&] { compile(wanted); });
  EXPECT_THAT(text, StartsWith("RuntimeError: jit: ops/x/y.cu(1): error: "));
  EXPECT_THAT(text, HasSubstr("\n    " + files.root().string() + "\n"));
  EXPECT_THAT(text, HasSubstr("did you mean src/cuda/device/common/vec.cuh?"));
  EXPECT_THAT(text, testing::Not(HasSubstr("src/cuda/device/sm90")));
}

TEST(CompileError, TheLogIsThereInFull) {
  const std::string text = test::error_text(
      [] { compile(request("extern \"C\" __global__ void k() { first; second; }", {"k"})); });
  const std::size_t at = text.find("full log: ");
  ASSERT_NE(at, std::string::npos) << text;
  const std::string path = text.substr(at + 10);
  EXPECT_TRUE(std::filesystem::exists(path)) << path;
  std::filesystem::remove(path);
}

TEST(CompileError, ALogThatCannotBeWrittenIsInTheMessage) {
  const char* before = std::getenv("TMPDIR");
  const std::string restore = before == nullptr ? "" : before;
  setenv("TMPDIR", "/nowhere", 1);
  const std::string text = test::error_text(
      [] { compile(request("extern \"C\" __global__ void k() { third; fourth; }", {"k"})); });
  restore.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", restore.c_str(), 1);
  EXPECT_THAT(text, HasSubstr("could not be written (/nowhere/einkorn-"));
  EXPECT_THAT(text, HasSubstr("identifier \"fourth\" is undefined"));
}

TEST(CompileError, UnknownArchListsTheKnown) {
  for (const char* arch : {"sm_99", "sm_9", "compute_90", "90", "sm_", "sm_90z", "sm_90aa"}) {
    const std::string text =
        test::error_text([&] { compile(request(kReverse, {"test::reverse<int, 1>"}, arch)); });
    EXPECT_THAT(text, StartsWith("ValueError: jit: arch: expected one of sm_")) << arch;
    EXPECT_THAT(text, HasSubstr("sm_90,")) << arch;
    EXPECT_THAT(text, HasSubstr("got \"" + std::string(arch) + "\"")) << arch;
  }
}

TEST(CompileError, AnArchThatIsNoNameIsRefusedBeforeItMeetsAPath) {
  for (const char* arch : {"../../etc", "sm_90/..", "SM_90", "sm 90"}) {
    EXPECT_EQ(
        test::error_text([&] { compile(request(kReverse, {"test::reverse<int, 1>"}, arch)); }),
        "ValueError: jit: arch: expected one such as sm_90a, got \"" + std::string(arch) + "\"");
  }
}

TEST(CompileError, UnknownFile) {
  EXPECT_EQ(test::error_text([] { compile({"ops/no/such.cu", "", {"k"}, "sm_80", {}}); }),
            "ValueError: jit: file: expected a file or an embedded source, got \"ops/no/such.cu\"\n"
            "  hint: paths are taken from the working folder");
  EXPECT_THAT(test::error_text(
                  [] { compile({"ops/norm/rms_norm/smxx/rows_v2.cu", "", {"k"}, "sm_80", {}}); }),
              HasSubstr("embedded in that folder are:\n    ops/norm/rms_norm/smxx/loop_v1.cu"));
  EXPECT_EQ(test::error_text([] { compile({"", "", {"k"}, "sm_80", {}}); }),
            "ValueError: jit: file: expected a path or a source text, got neither");
}

TEST(CompileError, UnknownCompilerListsTheKnown) {
  Request bad = request(kReverse, {"test::reverse<int, 1>"});
  bad.compiler = "icc";
  EXPECT_THAT(test::error_text([&] { compile(bad); }),
              StartsWith("ValueError: jit: compiler: expected one of nvrtc"));
}

TEST(CompileError, MissingCompilerSaysWhereItWasSearched) {
  cuda::SearchRoots roots;
  roots.override_path = "/nowhere/libnvrtc.so";
  EXPECT_THAT(test::error_text([&] {
                const Nvrtc compiler(cuda::DynamicLibrary::open(cuda::nvrtc_spec(), roots));
              }),
              StartsWith("RuntimeError: libnvrtc: missing: EINKORN_NVRTC=/nowhere/libnvrtc.so"));
}

TEST(CompileError, ALibraryThatIsNoCompilerIsNamed) {
  cuda::SearchRoots roots;
  roots.override_path = "libc.so.6";
  EXPECT_THAT(test::error_text([&] {
                const Nvrtc compiler(cuda::DynamicLibrary::open(cuda::nvrtc_spec(), roots));
              }),
              HasSubstr("function nvrtcVersion is missing from"));
}

TEST(CompileErrorDeathTest, MissingCompilerInACompile) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("EINKORN_NVRTC", "/nowhere/libnvrtc.so", 1);
        setenv("EINKORN_NVCC", "/nowhere/nvcc", 1);
        const std::string text =
            test::error_text([] { compile(request(kReverse, {"test::reverse<int, 1>"})); });
        const bool named = text.find("NVRTC was not found; tried:") != std::string::npos;
        unsetenv("EINKORN_NVRTC");  // not remembered: the same process finds it now
        const bool found = !compile(request(kReverse, {"test::reverse<int, 1>"}))->image.empty();
        std::exit(named && found ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(Load, NeedsExactlyOneEntry) {
  EXPECT_EQ(test::error_text([] { load(request(kReverse, {})); }),
            "ValueError: jit: instantiate of ops/x/y.cu: expected 1 to load, got 0");
}

TEST(NativeArch, HasTheSuffixWhereItMatters) {
  EXPECT_EQ(native_arch(80), "sm_80");
  EXPECT_EQ(native_arch(86), "sm_86");
  EXPECT_EQ(native_arch(89), "sm_89");
  EXPECT_EQ(native_arch(90), "sm_90a");
  EXPECT_EQ(native_arch(100), "sm_100a");
  EXPECT_EQ(native_arch(103), "sm_103a");
  EXPECT_EQ(native_arch(120), "sm_120a");
  EXPECT_EQ(test::error_text([] { native_arch(75); }),
            "ValueError: jit: compute capability: expected 80 or more (Ampere), got 75");
}

}  // namespace
}  // namespace einkorn::jit
