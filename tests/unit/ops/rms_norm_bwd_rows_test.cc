// rms_norm_bwd/cpu/rows_v1 against the reference, and its dweight with any number of threads; of
// sizes and layouts see rms_rows_test.cc.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ops/norm/rms_norm_bwd/contract.h"
#include "src/core/subprocess.h"
#include "tests/unit/ops/rows_variants.h"

namespace einkorn {
namespace {

using test::expect_correct;
using test::expect_correct_args;
using test::kDTypes;
using test::kRoundings;
using test::tensor_of;

void expect_rows(const std::string& keys) { expect_correct("rms_norm_bwd", "cpu/rows_v1", keys); }

TEST(RmsNormBwdRows, EveryDtypeAndRounding) {
  for (const std::string dtype : kDTypes) {
    for (const std::string rounding : kRoundings) {
      const std::string base = "rows=5 dtype=" + dtype + " rounding=" + rounding + " cols=";
      for (const std::string weight : kDTypes) {
        expect_rows(base + "131 weight=" + weight);
        expect_rows(base + "131 offset=1 rstd=true dweight=f32 weight=" + weight);
        expect_rows(base + "131 dweight=none weight=" + weight);
      }
      for (const std::string residual : kDTypes) {
        expect_rows(base + "131 rstd=true residual=" + residual);
        expect_rows(base + "128 weight=none residual=" + residual);
      }
    }
  }
}

TEST(RmsNormBwdRows, EveryNumberOfRows) {
  // As many chunks as rows, 64, and more.
  for (const std::string rows : {"0", "1", "2", "63", "64", "65", "127", "1000", "9000"}) {
    expect_rows("rows=" + rows + " cols=40 dtype=bf16 dweight=f32");
    expect_rows("rows=" + rows + " cols=5 dtype=f32 rounding=gemma");
  }
  expect_rows("rows=5000 cols=2048 dtype=bf16 dweight=f32 rounding=gemma");
}

TEST(RmsNormBwdRows, InPlace) {
  for (const std::string dtype : kDTypes) {
    const auto problem = RmsNormBwd::parse(split_key_values(
        "rows=70 cols=99 layout=row_strided residual=" + dtype + " dtype=" + dtype));
    Rng rng(5);
    const auto inputs = RmsNormBwd::make_inputs(problem, rng);
    for (const TensorView& over : {inputs.args.dy, inputs.args.dresidual_out}) {
      RmsNormBwd::Args args = inputs.args;
      args.dx = over;
      expect_correct_args("rms_norm_bwd", "cpu/rows_v1", args, inputs.storage, "in place");
    }
  }
}

TEST(RmsNormBwdRows, ExpandedInputs) {
  const Tensor x = tensor_of(kF32, {1, 3}, {1, 2, 3});
  const Tensor dy = tensor_of(kF32, {1, 3}, {0.5, 1, 2});
  const Tensor weight = tensor_of(kF32, {3}, {1, 2, 1});
  const Tensor dx = Tensor::empty({100, 3}, kF32, kCpuDevice);
  const Tensor dweight = Tensor::empty({3}, kF32, kCpuDevice);
  const std::int64_t shape[] = {100, 3}, strides[] = {0, 1};
  RmsNormBwd::Args args;
  args.x = {x.view().data(), kF32, shape, strides, kCpuDevice};
  args.dy = {dy.view().data(), kF32, shape, strides, kCpuDevice};
  args.weight = weight;
  args.dx = dx;
  args.dweight = dweight;
  expect_correct_args("rms_norm_bwd", "cpu/rows_v1", args, {x, dy, weight, dx, dweight},
                      "expanded");
}

constexpr const char* kThreadProblems[] = {
    "rows=4099 cols=96 dtype=bf16 dweight=f32 residual=bf16",
    "rows=3000 cols=1001 dtype=f32 rounding=gemma",
    "rows=333 cols=4096 dtype=f16 rstd=true rounding=none",
};

/// FNV-1a over a tensor's bytes.
std::uint64_t digest(const TensorView& tensor, std::uint64_t hash) {
  for (std::size_t i = 0; i < tensor.nbytes(); ++i) {
    hash = (hash ^ tensor.data_as<unsigned char>()[i]) * 0x100000001b3ULL;
  }
  return hash;
}

// Run by the test below in processes of their own: the number of threads is read once.
TEST(RmsNormBwdRows, DISABLED_PrintDigest) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char* keys : kThreadProblems) {
    Rng rng(3);
    const auto inputs = RmsNormBwd::make_inputs(RmsNormBwd::parse(split_key_values(keys)), rng);
    rms_norm_bwd::run(inputs.args, Stream::cpu(), "cpu/rows_v1");
    hash = digest(inputs.args.dweight, digest(inputs.args.dx, hash));
  }
  fmt::print("digest {:016x}\n", hash);
}

/// The digest that this program prints with so many threads.
std::string digest_with(int threads) {
  subprocess::Options options;
  options.environment = {fmt::format("EINKORN_NUM_THREADS={}", threads)};
  const auto result = subprocess::run(
      {std::filesystem::read_symlink("/proc/self/exe").string(), "--gtest_also_run_disabled_tests",
       "--gtest_filter=RmsNormBwdRows.DISABLED_PrintDigest"},
      options);
  EXPECT_TRUE(result.ok()) << subprocess::describe(result, options) << result.errors;
  const std::size_t at = result.output.find("digest ");
  return at == std::string::npos ? std::string() : result.output.substr(at, 23);
}

TEST(RmsNormBwdRows, TheBitsDoNotDependOnParallelism) {
  const std::string one = digest_with(1);
  ASSERT_FALSE(one.empty());
  for (const int threads : {2, 3, 8}) EXPECT_EQ(digest_with(threads), one) << threads;
}

}  // namespace
}  // namespace einkorn
