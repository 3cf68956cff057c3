// Reads what the real NVRTC compiles, which needs no GPU.

#include "src/jit/cubin.h"

#include <algorithm>
#include <cstring>
#include <random>

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/jit/nvrtc.h"
#include "tests/unit/golden.h"
#include "tests/unit/jit/compile_cubin.h"

namespace einkorn::jit {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kKernels = R"(
namespace test {
struct Params { float* p; long long n; char c; };
struct Large { int v[1250]; };
template <class T, int N>
__global__ void reverse(T* p) {
  __shared__ T s[N * 32];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[N * 32 - 1 - threadIdx.x];
}
template __global__ void reverse<float, 4>(float*);
__global__ void __launch_bounds__(256) bounded(const __grid_constant__ Params p, int a, double b,
                                               bool c) {
  p.p[threadIdx.x] = p.n + a + b + p.c + c;
}
__global__ void large(short n, Large l, float* p) { p[n] = l.v[n]; }
}  // namespace test
extern "C" __global__ void spilling(float* p, int stride) {
  float v[64];
  #pragma unroll
  for (int i = 0; i < 64; ++i) v[i] = p[i * stride + threadIdx.x];
  #pragma unroll
  for (int i = 0; i < 64; ++i) p[i * stride + threadIdx.x] = v[63 - i] * v[(i * 7) % 64];
}
extern "C" __global__ void indexed(float* p, int i) {
  float v[32];
  for (int j = 0; j < 32; ++j) v[j] = p[j * i];
  p[0] = v[i] + v[i / 2];
}
__device__ __noinline__ int recursion(int n, int* p) {
  int v[5];
  for (int i = 0; i < 5; ++i) v[i] = p[i];
  return n < 2 ? v[n] : recursion(n - 1, p + 1) + v[n % 5];
}
extern "C" __global__ void calls(int* p) { p[0] = recursion(p[1], p); }
extern "C" __global__ void two_arrays(char* p) {
  __shared__ char t[3];
  __shared__ __align__(1024) char s[70];
  extern __shared__ __align__(128) char dynamic[];
  s[threadIdx.x] = p[0], t[threadIdx.x] = p[3], dynamic[threadIdx.x] = p[5];
  __syncthreads();
  p[1] = s[4 - threadIdx.x] + t[2 - threadIdx.x] + dynamic[7 - threadIdx.x];
}
extern "C" __global__ void empty() {}
)";

test::CompiledCubin compile_all(const std::string& arch) {
  return test::compile_cubin(kKernels,
                             {"test::reverse<float, 4>", "test::bounded", "test::large", "spilling",
                              "indexed", "calls", "two_arrays", "empty"},
                             arch, {"--maxrregcount=32"});
}

std::vector<std::byte> compile_one(const std::string& source, const std::string& arch) {
  return test::compile_cubin(source, {"k"}, arch).bytes;
}

const CubinKernel& kernel(const Cubin& cubin, const std::string& lowered) {
  for (const CubinKernel& kernel : cubin.kernels) {
    if (kernel.lowered == lowered) return kernel;
  }
  throw std::runtime_error("no kernel " + lowered);
}

std::string name_of_parameter(const testing::TestParamInfo<const char*>& info) {
  return info.param;
}

class CubinOfArch : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!test::nvrtc_knows(std::stoi(GetParam() + 3))) {
      GTEST_SKIP() << nvrtc().id() << " does not know " << GetParam();
    }
  }
};
INSTANTIATE_TEST_SUITE_P(All, CubinOfArch,
                         testing::Values("sm_80", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120a"),
                         name_of_parameter);

TEST_P(CubinOfArch, AgreesWithTheAssembler) {
  const test::CompiledCubin compiled = compile_all(GetParam());
  const Cubin cubin = read_cubin(compiled.bytes);
  EXPECT_EQ("sm_" + std::to_string(cubin.sm) + (cubin.arch_specific ? "a" : ""), GetParam());
  EXPECT_EQ(cubin.kernels.size(), compiled.lowered.size()) << "device functions are no kernels";
  for (const auto& [expression, lowered] : compiled.lowered) {
    SCOPED_TRACE(lowered);
    ASSERT_EQ(compiled.resources.count(lowered), 1u) << "the assembler's report";
    const Resources& reported = compiled.resources.at(lowered);
    const Resources& read = kernel(cubin, lowered).resources;
    EXPECT_GT(read.registers, 0);
    EXPECT_EQ(read.registers, reported.registers);
    EXPECT_EQ(read.static_smem, reported.static_smem);
    EXPECT_EQ(read.stack_bytes, reported.stack_bytes);
    EXPECT_EQ(read.spill_loads, 0) << "not in a cubin";
    EXPECT_GE(kernel(cubin, lowered).code_bytes, 128);
    EXPECT_EQ(kernel(cubin, lowered).code_bytes % 128, 0);
  }
  EXPECT_EQ(kernel(cubin, "_ZN4test7reverseIfLi4EEEvPT_").resources.static_smem, 512);
  EXPECT_EQ(kernel(cubin, "empty").resources.static_smem, 0);
}

TEST_P(CubinOfArch, LocalMemoryShows) {
  const test::CompiledCubin compiled = compile_all(GetParam());
  const Cubin cubin = read_cubin(compiled.bytes);
  const Resources& spills = compiled.resources.at("spilling");
  // An access moves 4 to 16 bytes.
  const CubinKernel& spilling = kernel(cubin, "spilling");
  EXPECT_GE(spilling.local_loads, spills.spill_loads / 16);
  EXPECT_GE(spilling.local_stores, spills.spill_stores / 16);
  EXPECT_GT(spilling.local_loads, 10);
  EXPECT_GT(spilling.local_stores, 10);
  EXPECT_GT(kernel(cubin, "indexed").local_loads, 0);
  EXPECT_GT(kernel(cubin, "indexed").local_stores, 0);
  EXPECT_GT(kernel(cubin, "calls").local_stores, 0) << "in the function that it calls";
  for (const char* name : {"_ZN4test7reverseIfLi4EEEvPT_", "two_arrays", "empty"}) {
    EXPECT_EQ(kernel(cubin, name).local_loads, 0) << name;
    EXPECT_EQ(kernel(cubin, name).local_stores, 0) << name;
  }
}

TEST_P(CubinOfArch, Parameters) {
  const Cubin cubin = read_cubin(compile_all(GetParam()).bytes);
  const auto is = [](int index, std::int64_t offset, std::int64_t bytes) {
    return AllOf(Field(&CubinParameter::index, index), Field(&CubinParameter::offset, offset),
                 Field(&CubinParameter::bytes, bytes));
  };
  const CubinKernel& bounded = kernel(cubin, "_ZN4test7boundedENS_6ParamsEidb");
  EXPECT_THAT(bounded.parameters,
              ElementsAre(is(0, 0, 24), is(1, 24, 4), is(2, 32, 8), is(3, 40, 1)));
  EXPECT_EQ(bounded.max_threads, 256);
  const CubinKernel& large = kernel(cubin, "_ZN4test5largeEsNS_5LargeEPf");
  EXPECT_THAT(large.parameters, ElementsAre(is(0, 0, 2), is(1, 4, 5000), is(2, 5008, 8)))
      << "more than 4 KiB are recorded in another form";
  EXPECT_EQ(large.max_threads, 0);
  EXPECT_THAT(kernel(cubin, "empty").parameters, IsEmpty());
}

TEST(Cubin, RequiredBlockSizeIsABound) {
  if (!nvrtc().at_least(12, 9)) {
    GTEST_SKIP() << nvrtc().id() << " has no __block_size__";
  }
  const auto bytes = compile_one(
      "extern \"C\" __global__ void __block_size__((64, 2, 1)) k(int* p) { p[0] = 1; }", "sm_90a");
  EXPECT_EQ(kernel(read_cubin(bytes), "k").max_threads, 128);
}

class CubinBytes : public testing::Test {
 protected:
  // sm_80, because the files of newer architectures say "a" or not in a section as well.
  CubinBytes()
      : bytes_(compile_one("extern \"C\" __global__ void k(int* p) { p[0] = 1; }", "sm_80")) {}

  template <class T>
  void patch(std::size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof(value));
  }
  std::string error() const {
    return test::error_text([this] { read_cubin(bytes_); });
  }

  std::vector<std::byte> bytes_;
};

constexpr std::size_t kAbiVersion = 8, kMachine = 18, kSectionTable = 40, kFlags = 48,
                      kSectionCount = 60, kNamesIndex = 62;

TEST_F(CubinBytes, BothLayoutsOfTheArchitecture) {
  struct Row {
    std::uint8_t abi_version;
    std::uint32_t flags;
    int sm;
    bool arch_specific;
  };
  // As NVRTC 12.9 writes them for sm_80, sm_90, sm_90a, sm_100, sm_100a; then 13.0.
  for (const Row& row :
       {Row{7, 0x500550, 80, false}, Row{7, 0x5a055a, 90, false}, Row{7, 0x5a0d5a, 90, true},
        Row{8, 0x6006402, 100, false}, Row{8, 0x600640a, 100, true}, Row{8, 0x6005004, 80, false},
        Row{8, 0x6007802, 120, false}}) {
    SCOPED_TRACE(row.flags);
    patch(kAbiVersion, row.abi_version);
    patch(kFlags, row.flags);
    const Cubin cubin = read_cubin(bytes_);
    EXPECT_EQ(cubin.sm, row.sm);
    EXPECT_EQ(cubin.arch_specific, row.arch_specific);
  }
}

TEST_F(CubinBytes, OtherFilesAreNamed) {
  EXPECT_EQ(test::error_text([] { read_cubin({}); }),
            "RuntimeError: cubin: length: expected at least 64 bytes, got 0\n  hint: it takes what "
            "NVRTC's nvrtcGetCUBIN gives, or nvcc -cubin writes");
  patch(kMachine, std::uint16_t{62});
  EXPECT_EQ(error(),
            "RuntimeError: cubin: machine: expected 190 (CUDA), got 62\n"
            "  hint: it is a program or library for another processor");
  patch(kMachine, std::uint16_t{190});
  patch(4, std::uint8_t{1});
  EXPECT_THAT(error(), StartsWith("RuntimeError: cubin: form: expected 64-bit little-endian ELF "
                                  "(class 2, data 1), got class 1, data 1"));
  patch(0, std::uint32_t{0x73747865});
  EXPECT_THAT(error(), StartsWith("RuntimeError: cubin: first bytes: expected those of an ELF "
                                  "file, 7f 45 4c 46, got 65 78 74 73"));
}

TEST_F(CubinBytes, OlderArchitectures) {
  patch(kAbiVersion, std::uint8_t{7});
  patch(kFlags, std::uint32_t{0x340534});
  EXPECT_EQ(error(),
            "RuntimeError: cubin: architecture: expected sm_70 or newer, got sm_52 (flags "
            "0x340534)\n  hint: older code has instructions of another form");
}

TEST_F(CubinBytes, DamageIsNamed) {
  const std::string hint = "\n  hint: the file is damaged or cut: remove it and compile again";
  const std::vector<std::byte> good = bytes_;
  patch(kNamesIndex, std::uint16_t{999});
  EXPECT_THAT(error(), AllOf(StartsWith("RuntimeError: cubin: section of names: expected an index "
                                        "below "),
                             HasSubstr(", got 999" + hint)));
  bytes_ = good;
  patch(kSectionCount, std::uint16_t{0});
  EXPECT_EQ(error(),
            "RuntimeError: cubin: section table: expected entries of 64 bytes, got 0 of 64" + hint);
  bytes_ = good;
  patch(kSectionTable, ~std::uint64_t{0});
  EXPECT_THAT(error(), HasSubstr("cubin: section table: expected an end by byte " +
                                 std::to_string(good.size()) + ", got "));
  bytes_ = good;
  bytes_.resize(bytes_.size() / 2);
  EXPECT_THAT(error(), HasSubstr("cubin: section table: expected an end by byte "));
}

// Nothing may be read outside of the bytes, and nothing but Error be thrown: the sanitizers watch.
TEST_F(CubinBytes, AnyBytesGiveAResultOrAnError) {
  const auto original = compile_all(test::nvrtc_knows(100) ? "sm_100a" : "sm_90a").bytes;
  int read = 0, refused = 0;
  const auto attempt = [&](std::vector<std::byte> bytes) {
    bytes.shrink_to_fit();  // so that the sanitizer sees a byte too far
    try {
      read_cubin(bytes);
      ++read;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), StartsWith("cubin: "));
      ++refused;
    }
  };
  for (std::size_t length = 0; length <= std::min<std::size_t>(original.size(), 4096); ++length) {
    attempt(std::vector(original.begin(), original.begin() + static_cast<std::ptrdiff_t>(length)));
  }
  EXPECT_EQ(read, 0) << "cut short";
  std::mt19937 random(20261128);  // NOLINT(bugprone-random-generator-seed): the same every time
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes = i % 4 == 0 ? bytes_ : original;
    const auto below = [&](std::size_t end) {
      return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
    };
    for (std::size_t flips = 1 + below(8); flips > 0; --flips) {
      // Half of them where the structure is: the header and the tables at the end.
      const std::size_t where = below(4);
      const std::size_t at = where == 0   ? below(64)
                             : where == 1 ? bytes.size() - 1 - below(bytes.size() / 4)
                                          : below(bytes.size());
      bytes[at] ^= std::byte{1} << static_cast<int>(below(8));
    }
    if (below(10) == 0) bytes.resize(below(bytes.size()));
    attempt(std::move(bytes));
  }
  EXPECT_GT(read, 1000);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace einkorn::jit
