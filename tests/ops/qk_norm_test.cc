// qk_norm beyond its cases: slices of one qkv in place, overlaps, nothing to do, sizes.

#include <gtest/gtest.h>

#include <einkorn/error.h>

#include "ops/norm/qk_norm/contract.h"
#include "tests/ops/support.h"

namespace einkorn::test {
namespace {

const OpEntry& entry() {
  static const auto kView = registry();
  return kView->find("qk_norm");
}

TEST(QkNorm, InPlace) {
  for (const char* keys :
       {"rows=9 q_heads=8 k_heads=2 cols=128 dtype=bf16",
        "rows=9 q_heads=3 k_heads=2 cols=515 dtype=f16 layout=row_strided",
        "rows=300 q_heads=4 k_heads=4 cols=64 dtype=f32 weight=bf16 rounding=gemma"}) {
    const CaseData data = make_data(entry(), keys);
    auto& args = args_of<einkorn::QkNorm>(data);
    args.q_out = args.q;
    args.k_out = args.k;
    expect_pass(entry(), data, keys);
  }
}

TEST(QkNorm, SlicesOfOneQkvInPlace) {
  const CaseData data =
      make_data(entry(), "rows=33 q_heads=8 k_heads=8 cols=128 dtype=bf16 weight=none");
  auto& args = args_of<einkorn::QkNorm>(data);
  // The four tensors of the case have room for q, k and v of 8 tokens.
  const TensorView qkv(args.q.data(), kBF16, {8, 24, 128}, kCpuDevice);
  args.q = args.q_out = qkv.slice(1, 0, 8);
  args.k = args.k_out = qkv.slice(1, 8, 16);
  expect_pass(entry(), data, "qkv");
}

TEST(QkNorm, PartialOverlapIsRefusedAndNothingWritten) {
  const CaseData data = make_data(entry(), "rows=8 q_heads=4 k_heads=4 cols=64 dtype=f32");
  auto& args = args_of<einkorn::QkNorm>(data);
  const einkorn::QkNorm::Args good = args;
  for (const Device device : devices()) {
    args = good;
    args.q_out = good.k;
    expect_refused(entry(), data, device, ErrorKind::kValue, "qk_norm: q_out");
    args = good;
    args.k_out = good.q_out;
    expect_refused(entry(), data, device, ErrorKind::kValue, "qk_norm: k_out");
  }
}

TEST(QkNorm, NoRowsLaunchNothing) {
  for (const Device device : devices()) {
    expect_nothing_launched(entry(), "rows=0 q_heads=4 k_heads=2 cols=128 dtype=bf16", device);
  }
}

TEST(QkNorm, EveryHeadIsServed) {
  expect_cols_served(entry(), {"dtype=bf16", "dtype=f32 weight=bf16", "dtype=f16 align=2"}, 140,
                     {511, 512, 513, 1023, 1024}, einkorn::QkNorm::kMaxCols);
}

TEST(QkNorm, ManyHeadsAreServed) {
  expect_served(entry(), "rows=1 q_heads=65536 k_heads=65536 cols=1024 dtype=bf16");
  expect_served(entry(), "rows=1073741824 q_heads=1 k_heads=1 cols=128 dtype=bf16");
}

}  // namespace
}  // namespace einkorn::test
