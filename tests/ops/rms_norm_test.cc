// rms_norm beyond its cases: in place, overlaps, nothing to do, infinities, sizes.

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <einkorn/error.h>

#include "ops/norm/rms_norm/contract.h"
#include "src/core/float.h"
#include "tests/ops/support.h"

namespace einkorn::test {
namespace {

const OpEntry& entry() {
  static const auto kView = registry();
  return kView->find("rms_norm");
}

TEST(RmsNorm, InPlace) {
  for (const char* keys :
       {"rows=9 cols=1024 dtype=bf16", "rows=9 cols=1024 dtype=bf16 residual=f32",
        "rows=9 cols=515 dtype=f16 residual=f16 layout=row_strided align=2 rstd=true",
        "rows=3 cols=262144 dtype=bf16 residual=bf16", "rows=300 cols=128 dtype=f32"}) {
    const CaseData data = make_data(entry(), keys);
    auto& args = args_of<einkorn::RmsNorm>(data);
    args.y = args.x;
    if (args.residual_out.defined()) args.residual_out = args.residual;
    expect_pass(entry(), data, keys);
  }
}

TEST(RmsNorm, PartialOverlapIsRefusedAndNothingWritten) {
  CaseData data = make_data(entry(), "rows=8 cols=64 dtype=f32 residual=f32");
  auto& args = args_of<einkorn::RmsNorm>(data);
  const einkorn::RmsNorm::Args good = args;
  for (const Device device : devices()) {
    // y one row further on in x's memory.
    args.x = good.x.slice(0, 0, 4);
    args.y = good.x.slice(0, 1, 5);
    args.residual = good.residual.slice(0, 0, 4);
    args.residual_out = good.residual_out.slice(0, 0, 4);
    expect_refused(entry(), data, device, ErrorKind::kValue, "rms_norm: y");
    // residual_out likewise in the residual's, and exactly in x's.
    args.y = good.y.slice(0, 0, 4);
    args.residual_out = good.residual.slice(0, 2, 6);
    expect_refused(entry(), data, device, ErrorKind::kValue, "rms_norm: residual_out");
    args.residual_out = args.x;
    expect_refused(entry(), data, device, ErrorKind::kValue, "rms_norm: residual_out");
  }
}

TEST(RmsNorm, NoRowsLaunchNothing) {
  for (const Device device : devices()) {
    expect_nothing_launched(entry(), "rows=0 cols=4096 dtype=bf16", device);
    expect_nothing_launched(entry(), "rows=0 cols=7 dtype=f32 residual=f32 rstd=true", device);
  }
}

TEST(RmsNorm, InfinityAndNanPropagate) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const char* keys : {"rows=6 cols=1024 dtype=bf16 rstd=true", "rows=6 cols=100 dtype=f32",
                           "rows=6 cols=4096 dtype=f16 rounding=none",
                           "rows=6 cols=512 dtype=bf16 rounding=gemma residual=bf16"}) {
    const CaseData data = make_data(entry(), keys);
    const auto& args = args_of<einkorn::RmsNorm>(data);
    set_element(args.x, 1, 3, kInf);
    set_element(args.x, 2, args.x.size(1) - 1, kNan);
    set_element(args.x, 3, 0, -kInf);
    set_element(args.x, 4, 5, kInf);
    set_element(args.x, 4, 6, -kInf);
    expect_pass(entry(), data, keys);
  }
  // Through the weight: a column, not a row.
  const CaseData data = make_data(entry(), "rows=6 cols=256 dtype=bf16");
  const auto& args = args_of<einkorn::RmsNorm>(data);
  store_from_double(args.weight, 7, kInf);
  store_from_double(args.weight, 9, kNan);
  expect_pass(entry(), data, "weight");
}

TEST(RmsNorm, EveryColsIsServed) {
  expect_cols_served(
      entry(),
      {"dtype=bf16", "dtype=f32 residual=f32 rstd=true",
       "dtype=f16 residual=f32 layout=row_strided align=2"},
      600, {4095, 4096, 4097, 32768, 65535, 65536, 65537, 131072, 131073, 262143, 262144});
}

TEST(RmsNorm, ManyRowsAreServed) {
  expect_served(entry(), "rows=4294967296 cols=8 dtype=bf16");
  expect_served(entry(), "rows=1099511627776 cols=1 dtype=f32");
}

TEST(RmsNorm, Past2To31Elements) { expect_right_past_2_31(entry(), "cols=4096 dtype=bf16"); }

}  // namespace
}  // namespace einkorn::test
