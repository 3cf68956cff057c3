// cpu/rows_v1 of rms_norm and of its gradients against the reference.

#include <string>

#include <gtest/gtest.h>

#include "tests/unit/ops/rows_variants.h"

namespace einkorn {
namespace {

using test::kDTypes;
using test::kRoundings;

class RmsRows : public test::RowsVariants {};

INSTANTIATE_TEST_SUITE_P(Ops, RmsRows, testing::Values("rms_norm", "rms_norm_bwd"), RmsRows::op);

TEST_P(RmsRows, EveryKindOfLength) {
  for (const std::string cols :
       {"1", "2", "3", "7", "15", "16", "17", "31", "33", "64", "1000", "4097", "9001"}) {
    for (const std::string dtype : kDTypes) {
      expect_rows("rows=3 cols=" + cols + " dtype=" + dtype);
      expect_rows("rows=3 cols=" + cols + " dtype=" + dtype + " residual=bf16");
    }
  }
  expect_rows("rows=2 cols=262144 dtype=bf16 rstd=true");
  expect_rows("rows=2 cols=262143 dtype=f32 rstd=true");
}

TEST_P(RmsRows, EveryLayout) {
  for (const std::string cols : {"5", "64", "515"}) {
    for (const std::string align : {"2", "4", "8", "16"}) {
      expect_rows("rows=7 layout=row_strided dtype=bf16 residual=f16 cols=" + cols +
                  " align=" + align);
    }
    expect_rows("rows=7 layout=row_strided dtype=f32 residual=f32 align=4 cols=" + cols);
  }
  expect_rows("rows=7 cols=64 dtype=bf16 align=2");
  expect_rows("rows=7 cols=64 dtype=f32 align=4 rstd=true");
  expect_rows("rows=0 cols=64 dtype=f32");
  expect_rows("rows=1 cols=64 dtype=f32 align=4");
  expect_rows("rows=3000 cols=40 dtype=bf16 rstd=true residual=bf16");
}

TEST_P(RmsRows, EveryInstructionSet) {
  for_each_instruction_set([] {
    for (const std::string dtype : kDTypes) {
      for (const std::string rounding : kRoundings) {
        expect_rows("rows=4 cols=149 rstd=true residual=f16 dtype=" + dtype +
                    " rounding=" + rounding);
        expect_rows("rows=4 cols=3000 weight=f16 dtype=" + dtype + " rounding=" + rounding);
      }
    }
  });
}

}  // namespace
}  // namespace einkorn
