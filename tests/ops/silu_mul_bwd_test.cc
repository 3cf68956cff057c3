// silu_mul_bwd beyond its cases: in place, overlaps, nothing to do, infinities, sizes.

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "ops/activation/silu_mul_bwd/contract.h"
#include "src/core/float.h"
#include "tests/ops/support.h"

namespace einkorn::test {
namespace {

const OpEntry& entry() {
  static const auto kView = registry();
  return kView->find("silu_mul_bwd");
}

TEST(SiluMulBwd, InPlace) {
  for (const char* keys : {"rows=9 cols=1024 dtype=bf16", "rows=300 cols=128 dtype=f32 clamp=true",
                           "rows=9 cols=515 dtype=f16 layout=row_strided align=2 rounding=silu"}) {
    const CaseData data = make_data(entry(), keys);
    auto& args = args_of<einkorn::SiluMulBwd>(data);
    const einkorn::SiluMulBwd::Args good = args;
    // Over gate and up, crosswise, and one of them over dy.
    args.dgate = good.gate;
    args.dup = good.up;
    expect_pass(entry(), data, keys);
    std::swap(args.dgate, args.dup);
    expect_pass(entry(), data, keys);
    args.dgate = good.dy;
    expect_pass(entry(), data, keys);
    args.dup = good.dy;
    args.dgate = good.dgate;
    expect_pass(entry(), data, keys);
  }
}

TEST(SiluMulBwd, InPlacePacked) {
  for (const char* keys : {"rows=9 cols=1024 dtype=bf16 packing=halves",
                           "rows=30 cols=128 dtype=f32 packing=interleaved clamp=true",
                           "rows=9 cols=515 dtype=f16 packing=interleaved layout=row_strided",
                           "rows=9 cols=515 dtype=bf16 packing=halves align=2"}) {
    const CaseData data = make_data(entry(), keys);
    auto& args = args_of<einkorn::SiluMulBwd>(data);
    args.dpacked = args.packed;
    expect_pass(entry(), data, keys);
  }
}

TEST(SiluMulBwd, PartialOverlapIsRefusedAndNothingWritten) {
  CaseData split = make_data(entry(), "rows=8 cols=64 dtype=f32");
  auto& args = args_of<einkorn::SiluMulBwd>(split);
  const einkorn::SiluMulBwd::Args good = args;
  CaseData packed = make_data(entry(), "rows=8 cols=64 dtype=bf16 packing=halves");
  auto& packed_args = args_of<einkorn::SiluMulBwd>(packed);
  // Exactly the gate's half: no row overlaps another, but dy is not the packed tensor's.
  packed_args.dy = packed_args.dpacked.slice(1, 0, 64);
  for (const Device device : devices()) {
    for (const TensorView& source : {good.dy, good.gate, good.up}) {
      args.dy = good.dy.slice(0, 0, 4);
      args.gate = good.gate.slice(0, 0, 4);
      args.up = good.up.slice(0, 0, 4);
      args.dgate = good.dgate.slice(0, 0, 4);
      args.dup = source.slice(0, 1, 5);
      expect_refused(entry(), split, device, ErrorKind::kValue, "silu_mul_bwd: dup");
      args.dup = good.dup.slice(0, 0, 4);
      args.dgate = source.slice(0, 1, 5);
      expect_refused(entry(), split, device, ErrorKind::kValue, "silu_mul_bwd: dgate");
    }
    expect_refused(entry(), packed, device, ErrorKind::kValue, "silu_mul_bwd: dpacked");
  }
}

TEST(SiluMulBwd, NoRowsLaunchNothing) {
  for (const Device device : devices()) {
    expect_nothing_launched(entry(), "rows=0 cols=4096 dtype=bf16", device);
    expect_nothing_launched(entry(), "rows=0 cols=7 dtype=f32 packing=interleaved", device);
  }
}

TEST(SiluMulBwd, InfinityAndNanPropagate) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  // -50 keeps exp(1.702 * 50) inside f32. Beyond that sigmoid is 0 in f32 and not in double, and
  // times an infinity that is NaN in one and infinite in the other; the contract leaves that open.
  constexpr double kGates[] = {kInf, -kInf, kNan, 0.0, -0.0, 3e4, 80, -50, 2, 1e-6};
  constexpr double kOthers[] = {kInf, -kInf, kNan, 0.0, -3e4, 1};
  for (const char* rest : {"", " clamp=true", " rounding=silu"}) {
    for (const char* dtype : {"f32", "f16", "bf16"}) {
      const std::string keys = fmt::format("rows=24 cols=64 dtype={}{}", dtype, rest);
      const CaseData data = make_data(entry(), keys);
      const auto& args = args_of<einkorn::SiluMulBwd>(data);
      // Every triple of special values.
      std::int64_t at = 0;
      for (const double gate : kGates) {
        for (const double up : kOthers) {
          for (const double dy : kOthers) {
            store_from_double(args.dy, at, dy);
            store_from_double(args.gate, at, gate);
            store_from_double(args.up, at, up);
            at += 3;
          }
        }
      }
      expect_pass(entry(), data, keys);
    }
  }
}

TEST(SiluMulBwd, EveryColsIsServed) {
  expect_cols_served(entry(),
                     {"dtype=bf16", "dtype=f32 packing=interleaved",
                      "dtype=f16 packing=halves clamp=true layout=row_strided align=2"},
                     300, {14336, 65535, 65536, 131073, 262143, 262144, 16777216});
}

TEST(SiluMulBwd, ManyRowsAreServed) {
  expect_served(entry(), "rows=4294967296 cols=8 dtype=bf16");
  expect_served(entry(), "rows=1099511627776 cols=1 dtype=f32");
}

TEST(SiluMulBwd, Past2To31Elements) { expect_right_past_2_31(entry(), "cols=4096 dtype=bf16"); }

}  // namespace
}  // namespace einkorn::test
