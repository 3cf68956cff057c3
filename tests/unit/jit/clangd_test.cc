#include "src/jit/clangd.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/subprocess.h"
#include "tests/unit/file_tree.h"
#include "tests/unit/golden.h"
#include "tests/unit/jit/compile_cubin.h"
#include "tests/unit/source_dir.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class ClangdTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text = "") const {
    fs::create_directories(fs::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << text;
  }
  /// A folder that passes for a checkout.
  std::string checkout() const {
    write("checkout/src/cuda/device/common/types.cuh");
    write("checkout/tools/clangd_prelude.cuh");
    return root_ + "/checkout";
  }

  test::FileTree tree_{"einkorn clangd"};
  std::string root_ = tree_.root().string();
};

TEST_F(ClangdTest, WithoutAToolkit) {
  fs::create_directories(root_ + "/mine");
  const std::string root = checkout();
  const std::string text =
      clangd_config({.root = root, .include_dirs = {root_ + "/mine"}, .arch = "sm_80"});
  EXPECT_THAT(text, HasSubstr("If:\n  PathMatch: '.*\\.cuh?'\nCompileFlags:\n"));
  EXPECT_THAT(text, HasSubstr("  CompilationDatabase: None\n"));
  for (const std::string& flag :
       {std::string("-xcuda"), std::string("--cuda-gpu-arch=sm_80"),
        std::string("--cuda-device-only"), std::string("-std=c++20"), "-I" + root_ + "/mine",
        "-I" + root, "-include" + root + "/tools/clangd_prelude.cuh"}) {
    EXPECT_THAT(text, HasSubstr("    - \"" + flag + "\"\n"));
  }
  EXPECT_THAT(text, Not(HasSubstr("-isystem")));
  EXPECT_LT(text.find("/mine\""), text.find("-I" + root)) << "own headers first";
}

TEST_F(ClangdTest, WithAToolkit) {
  const std::string root = checkout();
  write("cuda/cuda_runtime.h");
  write("cuda/crt/host_config.h");
  fs::create_directories(root_ + "/cuda/cccl");
  const std::string text = clangd_config({.root = root, .toolkit_include = root_ + "/cuda"});
  EXPECT_THAT(text, AllOf(HasSubstr("\"-isystem" + root_ + "/cuda\""),
                          HasSubstr("\"-isystem" + root_ + "/cuda/cccl\""),
                          HasSubstr("\"-include__clang_cuda_runtime_wrapper.h\""),
                          Not(HasSubstr("prelude"))));
}

TEST_F(ClangdTest, FlagsOfNvccAreRemoved) {
  const std::string text = clangd_config({.root = checkout(), .use_database = true});
  EXPECT_THAT(text, Not(HasSubstr("CompilationDatabase")));
  const std::size_t removed = text.find("  Remove:\n");
  ASSERT_NE(removed, std::string::npos);
  for (const char* flag : {"-gencode*", "arch=compute_*", "--expt-*", "-Xcompiler*", "-ccbin*"}) {
    EXPECT_NE(text.find("    - \"" + std::string(flag) + "\"\n", removed), std::string::npos)
        << flag;
  }
}

TEST_F(ClangdTest, PathsAreQuoted) {
  const std::string odd = root_ + R"(/a: "b" # c\d)";
  fs::create_directories(odd);
  EXPECT_THAT(clangd_config({.root = checkout(), .include_dirs = {odd}}),
              HasSubstr("    - \"-I" + root_ + "/a: \\\"b\\\" # c\\\\d\"\n"));
}

TEST_F(ClangdTest, ArchitecturesThatClangKnows) {
  struct Row {
    const char* arch;
    int clangd;
    const char* told;
  };
  const std::string root = checkout();
  for (const Row& row :
       {Row{"sm_90a", 0, "sm_90a"}, Row{"sm_90a", 22, "sm_90a"}, Row{"sm_90a", 18, "sm_90a"},
        Row{"sm_90a", 16, "sm_90"}, Row{"sm_90a", 14, "sm_86"}, Row{"sm_90", 22, "sm_90"},
        Row{"sm_80", 14, "sm_80"}, Row{"sm_86", 22, "sm_86"}, Row{"sm_88", 22, "sm_86"},
        Row{"sm_100a", 22, "sm_100a"}, Row{"sm_100f", 22, "sm_100a"}, Row{"sm_100", 22, "sm_100"},
        Row{"sm_100a", 19, "sm_90a"}, Row{"sm_103a", 20, "sm_100a"}, Row{"sm_120a", 22, "sm_120a"},
        Row{"sm_121a", 22, "sm_120a"}, Row{"sm_80", 9, "sm_80"}}) {
    EXPECT_THAT(clangd_config({.root = root, .arch = row.arch, .clangd_major = row.clangd}),
                HasSubstr("\"--cuda-gpu-arch=" + std::string(row.told) + "\""))
        << row.arch << " for clangd " << row.clangd;
  }
}

TEST_F(ClangdTest, BadOptions) {
  const std::string root = checkout();
  for (const char* arch : {"", "sm_", "sm_75", "compute_90", "90", "sm_90z", "sm_-1"}) {
    EXPECT_EQ(test::error_text([&] { clangd_config({.root = root, .arch = arch}); }),
              "ValueError: clangd: arch: expected sm_80 or newer, such as sm_90a, got \"" +
                  std::string(arch) + "\"");
  }
  EXPECT_EQ(test::error_text([&] { clangd_config({.root = root, .include_dirs = {"/nowhere"}}); }),
            "ValueError: clangd: include folder: expected a folder, got \"/nowhere\"");
  EXPECT_EQ(test::error_text([&] { clangd_config({.root = "/nowhere"}); }),
            "ValueError: clangd: root: expected a folder, got \"/nowhere\"");
  EXPECT_EQ(test::error_text([&] { clangd_config({.root = "/tmp"}); }),
            "ValueError: clangd: root: expected a checkout of einkorn, with src/cuda/device and "
            "tools/clangd_prelude.cuh, got \"/tmp\"\n"
            "  hint: run from a checkout, whose headers editors are to show");
  EXPECT_EQ(
      test::error_text([&] { clangd_config({.root = root, .toolkit_include = "/tmp"}); }),
      "ValueError: clangd: toolkit headers: expected cuda_runtime.h and crt/host_config.h, got a "
      "folder without them, \"/tmp\"\n"
      "  hint: pip install nvidia-cuda-crt, or leave the toolkit out");
}

TEST_F(ClangdTest, WritesANewFileAndRefusesToReplaceOne) {
  const std::string path = root_ + "/.clangd";
  write_clangd(path, "first", false);
  EXPECT_EQ(read(path), "first");
  EXPECT_EQ(test::error_text([&] { write_clangd(path, "second", false); }),
            "ValueError: clangd: " + path +
                ": expected a new file, got one that exists\n"
                "  hint: --overwrite replaces it");
  EXPECT_EQ(read(path), "first");
  write_clangd(path, "third", true);
  EXPECT_EQ(read(path), "third");
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), fs::directory_iterator{}), 1)
      << "no draft is left";
}

TEST_F(ClangdTest, UnwritablePlaces) {
  EXPECT_EQ(test::error_text([] { write_clangd("/nowhere/.clangd", "text", true); }),
            "RuntimeError: clangd: /nowhere/.clangd: cannot be written: No such file or directory");
  fs::create_directories(root_ + "/folder/.clangd");
  EXPECT_EQ(
      test::error_text([&] { write_clangd(root_ + "/folder/.clangd", "text", true); }),
      "RuntimeError: clangd: " + root_ + "/folder/.clangd: cannot be written: Is a directory");
}

// What NVRTC knows without headers; the test compiles it with NVRTC as well.
constexpr const char* kBuiltins = R"(
struct Params { float* p; long long n; };
__constant__ float table[4];
__device__ int counter;
template <int N>
__global__ void __launch_bounds__(256, 2)
    k(const __grid_constant__ Params p, int4* v, unsigned long long* a) {
  extern __shared__ float dynamic[];
  __shared__ __align__(16) float4 s[32];
  const unsigned lane = threadIdx.x % warpSize;
  const dim3 g = gridDim;
  uint3 b = blockIdx;
  float x = p.p[blockIdx.x * blockDim.x + threadIdx.x + g.x + b.y];
  for (int m = 16; m > 0; m /= 2) x += __shfl_xor_sync(0xffffffffu, x, m);
  x += __shfl_down_sync(~0u, x, 1) + __shfl_up_sync(~0u, x, 1) + __shfl_sync(~0u, x, 0);
  unsigned bits = __ballot_sync(~0u, x > 0) + __activemask() + __any_sync(~0u, 1);
  bits += __popc(bits) + __clz(bits) + __ffs(bits) + __brev(bits) + __byte_perm(bits, 1, 2) +
          __funnelshift_l(1u, 2u, 3u) + __popcll(4ull) + __match_any_sync(~0u, 3u);
  x = rsqrtf(x) + __expf(x) + exp2f(x) + fmaxf(x, 0.f) + fminf(x, 1.f) + tanhf(x) + erff(x) +
      __logf(x) + fmaf(x, x, x) + __fmaf_rn(x, x, x) + __fdividef(x, 2.f) + __saturatef(x);
  x += __uint_as_float(__float_as_uint(x)) + __float2int_rn(x) + min(1, 2) + max(3u, 4u) +
       table[lane % 4] + static_cast<float>(bits);
  double d = __longlong_as_double(__double_as_longlong(1.0)) + sqrt(2.0);
  __syncthreads();
  __syncwarp();
  __threadfence();
  __nanosleep(10);
  int4 q = __ldg(v);
  atomicAdd(&counter, 1);
  atomicAdd(p.p, x);
  atomicCAS(a, 0ull, 1ull);
  atomicAdd_block(&counter, 1);
  unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(s));
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(x) : "memory");
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
  asm volatile("" : "+d"(d));
  s[lane] = make_float4(x, 0, 0, h);
  dynamic[lane] = s[31 - lane].x + q.x + __dp4a(1, 2, 3) + __mulhi(3, 4);
  if (clock64() == 0) __trap();
  if constexpr (N > 2) printf("%d\n", N);
  assert(N > 0);
}
)";

class RealClangdTest : public ClangdTest {
 protected:
  void SetUp() override {
    if (clangd_major_version() < 14) GTEST_SKIP() << "no clangd of 14 or newer in PATH";
  }

  /// What clangd says of a source, empty when it finds nothing wrong.
  std::string errors_in(const std::string& source, const std::string& toolkit) const {
    write("project/kernel.cu", source);
    write_clangd(root_ + "/project/.clangd",
                 clangd_config({.root = test::source_dir(),
                                .toolkit_include = toolkit,
                                .clangd_major = clangd_major_version()}),
                 true);
    // Without tweaks and per-line features: those report what they cannot do as errors.
    const subprocess::Result result = subprocess::run(
        {"clangd", "--check=" + root_ + "/project/kernel.cu", "--tweaks=none", "--check-lines=1-2"},
        {.time_limit = std::chrono::minutes(5)});
    std::string found;
    std::istringstream lines(result.errors);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("E[")) found += line + "\n";
    }
    if (result.exit_status != 0 && found.empty()) found = subprocess::describe(result);
    return found;
  }
};

TEST_F(RealClangdTest, KernelsWithoutAToolkit) {
  test::compile_cubin(kBuiltins, {"k<3>"}, "sm_90a");
  EXPECT_EQ(errors_in(kBuiltins, ""), "");
  for (const char* path :
       {"/ops/norm/rms_norm/smxx/rows_v1.cu", "/ops/norm/rms_norm/sm90/bulk_v1.cu",
        "/src/cuda/device/common/all.cuh"}) {
    EXPECT_EQ(errors_in(read(test::source_dir() + path), ""), "") << path;
  }
}

TEST_F(RealClangdTest, KernelsWithAToolkit) {
  const std::string toolkit = find_toolkit_headers();
  if (toolkit.empty()) GTEST_SKIP() << "no headers of a whole toolkit are here";
  for (const char* path :
       {"/ops/norm/rms_norm/smxx/rows_v1.cu", "/ops/norm/rms_norm/sm90/bulk_v1.cu",
        "/src/cuda/device/common/all.cuh"}) {
    EXPECT_EQ(errors_in(read(test::source_dir() + path), toolkit), "") << path;
  }
  EXPECT_EQ(errors_in("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
                      "__global__ void k(__half* x) { x[0] = __hadd(x[1], __float2half(1.f)); }\n",
                      toolkit),
            "");
}

TEST_F(RealClangdTest, MistakesAreFound) {
  const std::string source = "__global__ void k(float* p) {\n  p[threadIdx.w] = undefined;\n}\n";
  EXPECT_THAT(errors_in(source, ""),
              AllOf(HasSubstr("no member named 'w'"), HasSubstr("'undefined'")));
}

}  // namespace
}  // namespace einkorn::jit
