// silu_mul/cpu/rows_v1 against the reference.

#include "src/cpu/hwy_targets.h"  // before Highway, as where the variant is compiled

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "ops/activation/silu_mul/contract.h"
#include "tests/unit/ops/op_test.h"

namespace einkorn {
namespace {

using test::expect_correct;
using test::expect_correct_args;
using test::tensor_of;

constexpr const char* kDTypes[] = {"f32", "f16", "bf16"};
constexpr const char* kPackings[] = {"split", "halves", "interleaved"};

void expect_rows(const std::string& keys) { expect_correct("silu_mul", "cpu/rows_v1", keys); }

TEST(SiluMulRows, EveryForm) {
  for (const std::string dtype : kDTypes) {
    for (const std::string packing : kPackings) {
      for (const std::string clamp : {"false", "true"}) {
        for (const std::string rounding : {"once", "silu"}) {
          const std::string keys = "rows=5 dtype=" + dtype + " packing=" + packing +
                                   " clamp=" + clamp + " rounding=" + rounding;
          expect_rows(keys + " cols=131");
          expect_rows(keys + " cols=128 layout=row_strided");
        }
      }
    }
  }
}

TEST(SiluMulRows, EveryKindOfLength) {
  for (const std::string cols :
       {"1", "2", "3", "7", "15", "16", "17", "31", "33", "64", "1000", "4097", "8192", "20001"}) {
    for (const std::string packing : kPackings) {
      expect_rows("rows=3 dtype=bf16 cols=" + cols + " packing=" + packing);
      expect_rows("rows=3 dtype=f32 cols=" + cols + " packing=" + packing);
    }
  }
  expect_rows("rows=2 cols=1000003 dtype=bf16");
  expect_rows("rows=3000 cols=9 dtype=f16");
  expect_rows("rows=0 cols=9 dtype=f16");
}

TEST(SiluMulRows, EveryAlignment) {
  for (const std::string packing : kPackings) {
    for (const std::string align : {"2", "4", "8", "16"}) {
      const std::string keys = "rows=7 dtype=bf16 cols=64 packing=" + packing + " align=" + align;
      expect_rows(keys);
      expect_rows(keys + " layout=row_strided");
    }
  }
}

TEST(SiluMulRows, InPlace) {
  const auto problem = SiluMul::parse(split_key_values("rows=6 cols=99 layout=row_strided"));
  Rng rng(5);
  auto inputs = SiluMul::make_inputs(problem, rng);
  inputs.args.y = inputs.args.gate;
  expect_correct_args("silu_mul", "cpu/rows_v1", inputs.args, inputs.storage, "y is gate");
  inputs.args.y = inputs.args.up;
  expect_correct_args("silu_mul", "cpu/rows_v1", inputs.args, inputs.storage, "y is up");
}

TEST(SiluMulRows, InfinityAndNan) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> special = {0,     -0.0,  1,  -1,  infinity, -infinity, std::nan(""),
                                       88,    -88,   89, -89, -104,     -1000,     1e-4,
                                       60000, -60000};
  std::vector<double> gate, up;
  for (const double g : special) {
    for (const double u : {1.0, -0.5, 0.0, infinity, -infinity, std::nan("")}) {
      // f32 has no silu but 0 below -88, and 0 times infinity is another thing than a tiny number
      // times infinity: either is right.
      if (std::isinf(u) && g < -88) continue;
      gate.push_back(g);
      up.push_back(u);
    }
  }
  const auto count = static_cast<std::int64_t>(gate.size());
  for (const DType dtype : {kF32, kF16, kBF16}) {
    const Tensor g = tensor_of(dtype, {1, count}, gate);
    const Tensor u = tensor_of(dtype, {1, count}, up);
    const Tensor y = Tensor::empty({1, count}, dtype, kCpuDevice);
    SiluMul::Args args;
    args.gate = g;
    args.up = u;
    args.y = y;
    expect_correct_args("silu_mul", "cpu/rows_v1", args, {g, u, y}, "plain");
    args.clamp = true;
    for (const double alpha : {1.702, 1.0, 0.0}) {
      args.alpha = alpha;
      expect_correct_args("silu_mul", "cpu/rows_v1", args, {g, u, y}, "clamped");
    }
  }
}

// Each instruction set that was compiled and is here.
TEST(SiluMulRows, EveryInstructionSet) {
  const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  ASSERT_FALSE(targets.empty());
  for (const std::int64_t target : targets) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    for (const std::string dtype : kDTypes) {
      for (const std::string packing : kPackings) {
        expect_rows("rows=4 cols=149 dtype=" + dtype + " packing=" + packing);
        expect_rows("rows=4 cols=2000 clamp=true rounding=silu dtype=" + dtype +
                    " packing=" + packing);
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace
}  // namespace einkorn
