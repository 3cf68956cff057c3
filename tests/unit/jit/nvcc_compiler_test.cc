// Compiles with the real nvcc, which needs no GPU.

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <einkorn/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/jit/compiler.h"
#include "src/jit/elf.h"
#include "src/jit/nvcc.h"
#include "tests/unit/jit/compiler_tests.h"

namespace einkorn::jit {
namespace {

using test::failure_text;
using test::FileTree;
using test::thrown_text;
using test::Variable;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kKernels = R"(
namespace a::b {
template <class T, int N>
__global__ void scale(T* x, const T* y) { x[threadIdx.x] = y[threadIdx.x] * T(N); }
__global__ void plain(float* x) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[63 - threadIdx.x];
}
namespace { __global__ void hidden(float* x) { x[threadIdx.x] += 2; } }
}
extern "C" __global__ void c_name(int* p) { p[0] = 1; }
static __global__ void local(int* p) { p[0] = 7; }
__global__ void overloaded(int* p) { p[0] = 9; }
__global__ void overloaded(float* p) { p[0] = 9; }
template <class T> __device__ T twice(T x) { return x + x; }
__device__ int variable;
)";

/// The tests below that compile; the others make up an nvcc of their own.
class NvccCompiler : public testing::Test {
 protected:
  void SetUp() override {
    const ProgramSearch search = find_nvcc(NvccRoots::of_process());
    if (!search.path) GTEST_SKIP() << "no nvcc: " << testing::PrintToString(search.tried);
  }

  static Outcome compile(std::string source, Expressions entries,
                         std::vector<std::string> options = {}) {
    return nvcc_compiler().compile(resolve_inputs({.file = "ops/x/y.cu",
                                                   .source = std::move(source),
                                                   .instantiate = std::move(entries),
                                                   .arch = "sm_90a",
                                                   .options = std::move(options)}));
  }
};

TEST_F(NvccCompiler, NamesOfEveryKindOfKernel) {
  const Outcome outcome =
      compile(kKernels, {"a::b::scale<float, 4>", "&a::b::plain", "c_name", "a::b::hidden", "local",
                         "a::b::scale<unsigned char, (3 > 2)>", "(void (*)(float*))overloaded",
                         "c_name /* again */ // twice"});
  ASSERT_EQ(failure_text(outcome), "");
  std::vector<std::string> lowered;
  for (const EntryPoint& entry : outcome.artifact->entries) lowered.push_back(entry.lowered);
  EXPECT_THAT(
      lowered,
      ElementsAre("_ZN1a1b5scaleIfLi4EEEvPT_PKS2_", "_ZN1a1b5plainEPf", "c_name",
                  testing::ContainsRegex("^_ZN1a1b[0-9]+_GLOBAL__N__00000000_.*6hidden"),
                  "_Z5localPi", "_ZN1a1b5scaleIhLi1EEEvPT_PKS2_", "_Z10overloadedPf", "c_name"));
  EXPECT_EQ(outcome.artifact->entries[1].resources.static_smem, 256);
  EXPECT_GT(outcome.artifact->entries[0].resources.registers, 0);
  EXPECT_THAT(outcome.artifact->compiler, StartsWith("nvcc 1"));
  EXPECT_GT(outcome.artifact->compile_ms, 0);
}

TEST_F(NvccCompiler, TheCubinHoldsTheKernelsAndNoTraceOfHowTheyWereNamed) {
  const Outcome outcome = compile(kKernels, {"a::b::scale<float, 4>", "c_name"});
  ASSERT_EQ(failure_text(outcome), "");
  std::vector<std::string> names;
  for (const ElfSymbol& symbol : Elf(outcome.artifact->image).symbols()) {
    names.emplace_back(symbol.name);
  }
  EXPECT_THAT(names, Contains("_ZN1a1b5scaleIfLi4EEEvPT_PKS2_"));
  EXPECT_THAT(names, Contains("c_name"));
  EXPECT_THAT(names, testing::Each(Not(HasSubstr("einkorn_entry"))));
}

TEST_F(NvccCompiler, KernelsRunByTheirNames) {
  std::string reason;
  if (!cuda::available(&reason)) GTEST_SKIP() << reason;
  const Outcome outcome =
      nvcc_compiler().compile(resolve_inputs({.file = "y.cu",
                                              .source = kKernels,
                                              .instantiate = {"a::b::scale<float, 4>", "c_name"},
                                              .arch = native_arch(cuda::device_info(0).cc)}));
  ASSERT_EQ(failure_text(outcome), "");
  const cuda::Module module = cuda::Module::load(outcome.artifact->image, "y.cu");
  constexpr int kCount = 32;
  std::vector<float> host(kCount, 2.5F);
  const TensorView view(host.data(), DType::kF32, {kCount}, kCpuDevice);
  const Tensor in = Tensor::empty({kCount}, DType::kF32, cuda_device(0));
  const Tensor out = Tensor::empty({kCount}, DType::kF32, cuda_device(0));
  copy(view, in);
  void* out_data = out.view().data();
  void* in_data = in.view().data();
  void* arguments[] = {static_cast<void*>(&out_data), static_cast<void*>(&in_data)};
  const cuda::OwnedStream stream(0);
  module.kernel(outcome.artifact->entries[0].lowered)
      .launch({.grid = {1}, .block = {kCount}}, stream.get(), arguments);
  module.kernel(outcome.artifact->entries[1].lowered)
      .launch({.grid = {1}, .block = {1}}, stream.get(), &arguments[1]);
  stream.synchronize();
  copy(out, view);
  EXPECT_THAT(host, testing::Each(10.0F));
}

TEST_F(NvccCompiler, AgreesWithNvrtcOnNames) {
  const CompileInputs inputs =
      resolve_inputs({.file = "y.cu",
                      .source = kKernels,
                      .instantiate = {"a::b::scale<float, 4>", "a::b::plain", "c_name", "local"},
                      .arch = "sm_80"});
  if (const auto reason = nvrtc_compiler().refusal(inputs)) GTEST_SKIP() << *reason;
  const Outcome one = nvcc_compiler().compile(inputs);
  const Outcome other = nvrtc_compiler().compile(inputs);
  ASSERT_EQ(failure_text(one) + failure_text(other), "");
  for (std::size_t i = 0; i < inputs.entries.size(); ++i) {
    EXPECT_EQ(one.artifact->entries[i].lowered, other.artifact->entries[i].lowered);
  }
}

TEST_F(NvccCompiler, StandardLibraryAndDependencies) {
  const Outcome outcome = compile(R"(
#include <cuda_fp16.h>
#include <array>
#include <type_traits>
template <class T>
__global__ void k(T* p, std::array<int, 2> a) {
  static_assert(std::is_same_v<T, __half>);
  p[0] = __float2half(a.size());
}
)",
                                  {"k<__half>"});
  // std::array::size is a host function here, constant expressions aside.
  EXPECT_THAT(failure_text(outcome), HasSubstr("calling a constexpr __host__ function"));
  const Outcome relaxed = compile(
      "#include <array>\n__global__ void k(int* p, std::array<int, 2> a) { p[0] = a.size(); }", "k",
      {"--expt-relaxed-constexpr"});
  ASSERT_EQ(failure_text(relaxed), "");
  EXPECT_THAT(relaxed.dependencies, Contains(EndsWith("/array")));
  EXPECT_THAT(relaxed.dependencies, Contains(EndsWith("/cuda_runtime.h")));
  EXPECT_THAT(relaxed.dependencies, testing::Each(StartsWith("/")));
  EXPECT_THAT(relaxed.dependencies, testing::Each(Not(HasSubstr("/einkorn-"))));
  EXPECT_TRUE(nvcc_compiler().reads_disk());
}

TEST_F(NvccCompiler, IncludesThatLeaveTheFolderAndOddNames) {
  const FileTree files;
  files.write("common/base.cuh", "#include \"types.cuh\"\n#define VALUE Number(OTHER)\n");
  files.write("common/types.cuh", "#pragma once\nusing Number = float;\n");
  files.write("in $(touch x)/odd name.cuh", "#define OTHER 5\n");
  files.write("in $(touch x)/computed.cuh", "__device__ const int computed = 3;\n");
  const std::string main = files.write("a/b/k 1.cu",
                                       "#include \"../../common/base.cuh\"\n"
                                       "#include <odd name.cuh>\n"
                                       "#include \"" +
                                           files.path("common/types.cuh") +
                                           "\"\n"
                                           "#define NAME <computed.cuh>\n"
                                           "#include NAME\n"
                                           "__global__ void k(Number* p) { *p = VALUE + computed; }"
                                           "\n");
  const Outcome outcome =
      nvcc_compiler().compile(resolve_inputs({.file = main,
                                              .instantiate = "k",
                                              .arch = "sm_90a",
                                              .include_dirs = {files.path("in $(touch x)")}}));
  ASSERT_EQ(failure_text(outcome), "");
  EXPECT_EQ(outcome.artifact->entries[0].lowered, "_Z1kPf");
  EXPECT_THAT(outcome.dependencies, Contains(files.path("in $(touch x)/computed.cuh")));
  EXPECT_THAT(outcome.dependencies, Not(Contains(HasSubstr("base.cuh"))));
}

TEST_F(NvccCompiler, ErrorsNameFilesOnDisk) {
  const FileTree files;
  files.write("common/base.cuh", "\n\nint broken(float x) { return x +; }\n");
  const std::string main =
      files.write("a/k.cu", "#include \"../common/base.cuh\"\n__global__ void k(int* p) {}\n");
  const Outcome outcome =
      nvcc_compiler().compile(resolve_inputs({.file = main, .instantiate = "k", .arch = "sm_90a"}));
  EXPECT_THAT(failure_text(outcome),
              StartsWith("jit: " + files.path("common/base.cuh") +
                         "(3): error: expected an expression\n  entry: k  arch: sm_90a  compiler: "
                         "nvcc "));
  EXPECT_THAT(failure_text(outcome), HasSubstr("\n  full log: /"));
}

TEST_F(NvccCompiler, ErrorsOfTheSource) {
  EXPECT_THAT(failure_text(compile("\n__global__ void k(int* p) { *p = missing; }", "k")),
              HasSubstr("ops/x/y.cu(2): error: identifier \"missing\" is undefined"));
  const std::string header = failure_text(compile("#include <no/such.h>", "k"));
  EXPECT_THAT(header, HasSubstr("ops/x/y.cu(1): error: no/such.h: No such file or directory"));
  EXPECT_THAT(header, HasSubstr("hint: it was looked for in"));
  EXPECT_THAT(failure_text(compile("__global__ void k() { asm(\"bogus;\"); }", "k")),
              HasSubstr("ops/x/y.cu: ptxas, line "));
  EXPECT_THAT(failure_text(compile("__global__ void k() {}", "k", {"--bogus"})),
              HasSubstr("Unknown option '--bogus'"));
}

TEST_F(NvccCompiler, EntriesThatNameNoKernel) {
  const auto text = [](const char* entry) { return failure_text(compile(kKernels, entry)); };
  EXPECT_THAT(text("a::missing"), HasSubstr("ops/x/y.cu: error: "));
  EXPECT_THAT(text("a::missing"), HasSubstr("hint: the entry has to name a kernel"));
  EXPECT_THAT(text("overloaded"), HasSubstr("cannot deduce \"auto\""));
  EXPECT_THAT(text("a::b::scale"), HasSubstr("cannot deduce \"auto\""));
  EXPECT_THAT(text("twice<int>"), HasSubstr("\"twice<int>\" is no __global__ function"));
  EXPECT_THAT(text("&variable"), HasSubstr("\"&variable\" is no __global__ function"));
  EXPECT_THAT(text(""), HasSubstr("error: "));
  EXPECT_THAT(text("0"), HasSubstr("\"0\" is no __global__ function"));
}

TEST_F(NvccCompiler, OptionsOfTheRequest) {
  const std::string source = "__global__ void k(int* p) { *p = N; }\n";
  EXPECT_EQ(failure_text(compile(source, "k", {"-DN=3", "-lineinfo", "--maxrregcount=32"})), "");
  EXPECT_EQ(failure_text(compile("static_assert(__cplusplus == 201703L);\n" + source, "k",
                                 {"-DN=3", "-std=c++17", "-Xptxas=-O1"})),
            "");
  EXPECT_EQ(failure_text(
                compile("static_assert(__cplusplus == 202002L);\n" + source, "k", {"-DN=3", "-G"})),
            "");
}

TEST_F(NvccCompiler, EqualInputsGiveEqualImages) {
  const auto image = [](const std::vector<std::string>& options) {
    const Outcome outcome = compile(kKernels, {"a::b::hidden", "c_name"}, options);
    EXPECT_EQ(failure_text(outcome), "");
    return outcome.artifact->image;
  };
  EXPECT_EQ(image({}), image({}));
  EXPECT_EQ(image({"-lineinfo"}), image({"-lineinfo"}));
}

TEST_F(NvccCompiler, NothingIsLeftBehind) {
  const FileTree temporary;
  const Variable tmpdir("TMPDIR", temporary.root().string());
  EXPECT_EQ(failure_text(compile("__global__ void k() {}", "k")), "");
  EXPECT_THAT(temporary.entries(), IsEmpty());
  EXPECT_NE(failure_text(compile("oops", "k")), "");
  EXPECT_THAT(temporary.entries(), ElementsAre(StartsWith("einkorn-")));  // the log
  CompileInputs inputs = resolve_inputs({.file = "y.cu",
                                         .source = "#include <thread>\n__global__ void k() {}",
                                         .instantiate = "k",
                                         .arch = "sm_90a"});
  inputs.time_limit = 0.05;
  EXPECT_THAT(thrown_text([&] { nvcc_compiler().compile(inputs); }),
              StartsWith("jit: y.cu: still compiling after 0.05 s, ended\n"
                         "  entry: k  arch: sm_90a  compiler: nvcc "));
  EXPECT_THAT(temporary.entries(), ElementsAre(StartsWith("einkorn-")));
}

TEST_F(NvccCompiler, IdentityNamesToolkitAndHostCompiler) {
  const std::string identity = nvcc_compiler().identity();
  EXPECT_THAT(identity, StartsWith("nvcc "));
  EXPECT_THAT(identity, HasSubstr(", host "));
  EXPECT_EQ(identity, nvcc_compiler().identity());
  const Variable flags("NVCC_APPEND_FLAGS", "-DX=1");
  EXPECT_NE(identity, nvcc_compiler().identity());
}

}  // namespace
}  // namespace einkorn::jit
