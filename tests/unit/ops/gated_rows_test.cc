// cpu/rows_v1 of silu_mul and of its gradients against the reference.

#include <string>

#include <gtest/gtest.h>

#include "tests/unit/ops/rows_variants.h"

namespace einkorn {
namespace {

using test::kDTypes;

constexpr const char* kPackings[] = {"split", "halves", "interleaved"};

class GatedRows : public test::RowsVariants {};

INSTANTIATE_TEST_SUITE_P(Ops, GatedRows, testing::Values("silu_mul", "silu_mul_bwd"),
                         GatedRows::op);

TEST_P(GatedRows, EveryForm) {
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

TEST_P(GatedRows, EveryKindOfLength) {
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

TEST_P(GatedRows, EveryAlignment) {
  for (const std::string packing : kPackings) {
    for (const std::string align : {"2", "4", "8", "16"}) {
      const std::string keys = "rows=7 dtype=bf16 cols=64 packing=" + packing + " align=" + align;
      expect_rows(keys);
      expect_rows(keys + " layout=row_strided");
    }
  }
}

TEST_P(GatedRows, EveryInstructionSet) {
  for_each_instruction_set([] {
    for (const std::string dtype : kDTypes) {
      for (const std::string packing : kPackings) {
        expect_rows("rows=4 cols=149 dtype=" + dtype + " packing=" + packing);
        expect_rows("rows=4 cols=2000 clamp=true rounding=silu dtype=" + dtype +
                    " packing=" + packing);
      }
    }
  });
}

}  // namespace
}  // namespace einkorn
