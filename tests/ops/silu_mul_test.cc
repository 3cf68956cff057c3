// silu_mul beyond its cases: in place, overlaps, nothing to do, infinities, sizes.

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "ops/activation/silu_mul/contract.h"
#include "src/core/float.h"
#include "tests/ops/support.h"

namespace einkorn::test {
namespace {

const OpEntry& entry() {
  static const auto kView = registry();
  return kView->find("silu_mul");
}

TEST(SiluMul, InPlace) {
  for (const char* keys : {"rows=9 cols=1024 dtype=bf16", "rows=300 cols=128 dtype=f32 clamp=true",
                           "rows=9 cols=515 dtype=f16 layout=row_strided align=2 rounding=silu"}) {
    const CaseData data = make_data(entry(), keys);
    auto& args = args_of<einkorn::SiluMul>(data);
    for (const TensorView& target : {args.gate, args.up}) {
      args.y = target;
      expect_pass(entry(), data, keys);
    }
  }
}

TEST(SiluMul, PartialOverlapIsRefusedAndNothingWritten) {
  CaseData split = make_data(entry(), "rows=8 cols=64 dtype=f32");
  auto& args = args_of<einkorn::SiluMul>(split);
  const einkorn::SiluMul::Args good = args;
  CaseData packed = make_data(entry(), "rows=8 cols=64 dtype=bf16 packing=halves");
  auto& packed_args = args_of<einkorn::SiluMul>(packed);
  // Exactly the gate's half: no row overlaps another, but a packed tensor is read whole.
  packed_args.y = packed_args.packed.slice(1, 0, 64);
  for (const Device device : devices()) {
    for (const TensorView& source : {good.gate, good.up}) {
      args.gate = good.gate.slice(0, 0, 4);
      args.up = good.up.slice(0, 0, 4);
      args.y = source.slice(0, 1, 5);
      expect_refused(entry(), split, device, ErrorKind::kValue, "silu_mul: y");
    }
    expect_refused(entry(), packed, device, ErrorKind::kValue, "silu_mul: y");
  }
}

TEST(SiluMul, NoRowsLaunchNothing) {
  for (const Device device : devices()) {
    expect_nothing_launched(entry(), "rows=0 cols=4096 dtype=bf16", device);
    expect_nothing_launched(entry(), "rows=0 cols=7 dtype=f32 packing=interleaved", device);
  }
}

TEST(SiluMul, InfinityAndNanPropagate) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  // -80 keeps exp(80) inside f32. Beyond 88 silu is 0 in f32 and not in double, and times an
  // infinite up that is NaN in one and -inf in the other; the contract leaves that corner open.
  constexpr double kSpecial[] = {kInf, -kInf, kNan, 0.0, -0.0, 3e4, -3e4, 80, -80, 1e-6};
  for (const char* rest : {"", " clamp=true", " rounding=silu"}) {
    for (const char* dtype : {"f32", "f16", "bf16"}) {
      const std::string keys = fmt::format("rows=12 cols=64 dtype={}{}", dtype, rest);
      const CaseData data = make_data(entry(), keys);
      const auto& args = args_of<einkorn::SiluMul>(data);
      // Every pair of special values.
      std::int64_t at = 0;
      for (const double gate : kSpecial) {
        for (const double up : kSpecial) {
          store_from_double(args.gate, at, gate);
          store_from_double(args.up, at, up);
          at += 3;
        }
      }
      expect_pass(entry(), data, keys);
    }
  }
}

TEST(SiluMul, EveryColsIsServed) {
  expect_cols_served(entry(),
                     {"dtype=bf16", "dtype=f32 packing=interleaved",
                      "dtype=f16 packing=halves clamp=true layout=row_strided align=2"},
                     300, {14336, 65535, 65536, 131073, 262143, 262144, 16777216});
}

TEST(SiluMul, ManyRowsAreServed) {
  expect_served(entry(), "rows=4294967296 cols=8 dtype=bf16");
  expect_served(entry(), "rows=1099511627776 cols=1 dtype=f32");
}

TEST(SiluMul, Past2To31Elements) { expect_right_past_2_31(entry(), "cols=4096 dtype=bf16"); }

}  // namespace
}  // namespace einkorn::test
