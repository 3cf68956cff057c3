// qk_norm/cpu/rows_v1 against the reference.

#include "tests/unit/ops/rows_variants.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ops/norm/qk_norm/contract.h"
#include "tests/unit/ops/qk_norm_arguments.h"

namespace einkorn {
namespace {

using test::expect_correct_args;
using test::kDTypes;
using test::kRoundings;

class QkNormRows : public test::RowsVariants {};

INSTANTIATE_TEST_SUITE_P(Ops, QkNormRows, testing::Values("qk_norm"), QkNormRows::op);

TEST_P(QkNormRows, EveryDtypeAndRounding) {
  for (const std::string dtype : kDTypes) {
    for (const std::string rounding : kRoundings) {
      for (const std::string weight : {"none", "f32", "f16", "bf16"}) {
        const std::string keys = "rows=5 q_heads=3 k_heads=2 cols=67 dtype=" + dtype +
                                 " rounding=" + rounding + " weight=" + weight;
        expect_rows(keys);
        expect_rows(keys + " offset=1");
      }
    }
  }
}

TEST_P(QkNormRows, EveryKindOfLength) {
  for (const std::string cols :
       {"1", "2", "3", "7", "15", "16", "17", "31", "33", "64", "80", "128", "1000", "1024"}) {
    for (const std::string dtype : kDTypes) {
      expect_rows("rows=3 q_heads=2 k_heads=3 cols=" + cols + " dtype=" + dtype);
    }
  }
}

TEST_P(QkNormRows, EveryNumberOfHeads) {
  for (const std::string q_heads : {"1", "2", "5"}) {
    for (const std::string k_heads : {"1", "3"}) {
      const std::string heads = "q_heads=" + q_heads + " k_heads=" + k_heads;
      for (const std::string rows : {"0", "1", "4"}) {
        expect_rows(heads + " cols=24 dtype=bf16 rows=" + rows);
      }
      expect_rows(heads + " cols=24 dtype=f32 rows=7 layout=row_strided");
    }
  }
  // Heads of one token, and of many, on several threads.
  expect_rows("rows=1 q_heads=3000 k_heads=1000 cols=64 dtype=bf16");
  expect_rows("rows=3000 q_heads=2 k_heads=1 cols=64 dtype=bf16");
}

TEST_P(QkNormRows, EveryInstructionSet) {
  for_each_instruction_set([] {
    for (const std::string dtype : kDTypes) {
      for (const std::string rounding : kRoundings) {
        for (const std::string cols : {"149", "128"}) {
          expect_rows("rows=4 q_heads=2 k_heads=1 weight=f16 cols=" + cols + " dtype=" + dtype +
                      " rounding=" + rounding);
        }
      }
    }
  });
}

TEST(QkNormRowsInPlace, SlicesOfOneQkv) {
  for (const DType dtype : {kF32, kF16, kBF16}) {
    test::QkNormArguments valid;
    valid.slice_qkv(dtype, 6, 4, 2, 40);
    const Tensor qkv = valid.storage.back();
    for (std::int64_t i = 0; i < qkv.view().numel(); ++i) {
      store_from_double(qkv, i, 0.03 * static_cast<double>(i % 97) - 1);
    }
    expect_correct_args("qk_norm", "cpu/rows_v1", valid.args, {qkv}, "in place");
  }
}

TEST(QkNormRowsValues, InfinityAndNanStayInTheirHead) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const DType dtype : {kF32, kF16, kBF16}) {
    std::vector<double> values(std::size_t{2} * 3 * 37);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.01 * static_cast<double>(i) + 0.1;
    values[3] = infinity;
    values[37 + 36] = -infinity;
    values[std::size_t{4} * 37 + 20] = std::nan("");
    const Tensor q = test::tensor_of(dtype, {2, 3, 37}, values);
    const Tensor k = test::tensor_of(dtype, {2, 3, 37}, std::vector<double>(values.size(), 0.0));
    const Tensor q_out = Tensor::empty({2, 3, 37}, dtype, kCpuDevice);
    const Tensor k_out = Tensor::empty({2, 3, 37}, dtype, kCpuDevice);
    QkNorm::Args args;
    args.q = q;
    args.k = k;
    args.q_out = q_out;
    args.k_out = k_out;
    for (const auto rounding : {QkNorm::Rounding::kLlama, QkNorm::Rounding::kGemma}) {
      args.rounding = rounding;
      expect_correct_args("qk_norm", "cpu/rows_v1", args, {q, k, q_out, k_out}, "inf and nan");
    }
  }
}

}  // namespace
}  // namespace einkorn
