// rms_norm_bwd beyond its cases: in place, overlaps, no rows, infinities, sizes.

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "ops/norm/rms_norm_bwd/contract.h"
#include "src/core/float.h"
#include "tests/ops/support.h"

namespace einkorn::test {
namespace {

using einkorn::RmsNormBwd;

const OpEntry& entry() {
  static const auto kView = registry();
  return kView->find("rms_norm_bwd");
}

TEST(RmsNormBwd, InPlace) {
  for (const char* keys :
       {"rows=9 cols=1024 dtype=bf16 residual=bf16", "rows=2000 cols=128 dtype=f32 residual=f32",
        "rows=9 cols=515 dtype=f16 residual=f16 layout=row_strided align=2 rstd=true",
        "rows=70 cols=40000 dtype=bf16 residual=bf16",
        "rows=1500 cols=8192 dtype=bf16 residual=bf16"}) {
    const CaseData data = make_data(entry(), keys);
    auto& args = args_of<RmsNormBwd>(data);
    args.dx = args.dy;
    expect_pass(entry(), data, keys);
    args.dx = args.dresidual_out;
    expect_pass(entry(), data, keys);
  }
}

TEST(RmsNormBwd, OverlapIsRefusedAndNothingWritten) {
  CaseData data = make_data(entry(), "rows=8 cols=64 dtype=f32 residual=f32");
  auto& args = args_of<RmsNormBwd>(data);
  const RmsNormBwd::Args good = args;
  for (const Device device : devices()) {
    args.dx = good.x;
    expect_refused(entry(), data, device, ErrorKind::kValue, "rms_norm_bwd: dx");
    // One row further on in dy's memory, and in the residual's.
    for (const TensorView& source : {good.dy, good.dresidual_out}) {
      args = good;
      args.x = good.x.slice(0, 0, 4);
      args.dy = good.dy.slice(0, 0, 4);
      args.dresidual_out = good.dresidual_out.slice(0, 0, 4);
      args.dx = source.slice(0, 1, 5);
      expect_refused(entry(), data, device, ErrorKind::kValue, "rms_norm_bwd: dx");
    }
    args = good;
    args.dweight = good.weight;
    expect_refused(entry(), data, device, ErrorKind::kValue, "rms_norm_bwd: dweight");
    args = good;
  }
}

TEST(RmsNormBwd, NoRows) {
  for (const Device device : devices()) {
    expect_nothing_launched(entry(), "rows=0 cols=4096 dtype=bf16 dweight=none", device);
    expect_nothing_launched(entry(), "rows=0 cols=7 dtype=f32 weight=none residual=f32", device);
  }
  // dweight is a sum over nothing, and all variants write its zeros.
  const CaseData data = make_data(entry(), "rows=0 cols=4099 dtype=bf16");
  expect_pass(entry(), data, "no rows");
  const measure::Prepared prepared = measure::prepare(entry(), data, "no rows");
  const auto& expected = args_of<RmsNormBwd>(prepared.expected);
  for (std::int64_t i = 0; i < 4099; ++i) ASSERT_EQ(load_as_double(expected.dweight, i), 0);
}

TEST(RmsNormBwd, InfinityAndNanPropagate) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const char* keys : {"rows=9 cols=1024 dtype=bf16", "rows=9 cols=100 dtype=f32 rstd=true",
                           "rows=9 cols=4096 dtype=f16 rounding=none",
                           "rows=9 cols=512 dtype=bf16 rounding=gemma residual=bf16",
                           "rows=9 cols=40000 dtype=bf16"}) {
    const CaseData data = make_data(entry(), keys);
    const auto& args = args_of<RmsNormBwd>(data);
    set_element(args.x, 1, 3, kInf);
    set_element(args.x, 2, args.x.size(1) - 1, kNan);
    set_element(args.x, 3, 0, -kInf);
    set_element(args.dy, 4, 5, kInf);
    set_element(args.dy, 5, 6, kNan);
    set_element(args.dy, 6, 7, -kInf);
    set_element(args.dy, 7, 8, kInf);
    set_element(args.dy, 7, 9, -kInf);
    if (args.dresidual_out.defined()) {
      set_element(args.dresidual_out, 0, 1, kInf);
      set_element(args.dresidual_out, 8, 2, kNan);
    }
    expect_pass(entry(), data, keys);
  }
}

TEST(RmsNormBwd, EveryColsIsServed) {
  expect_cols_served(
      entry(),
      {"dtype=bf16", "dtype=f32 residual=f32 rstd=true",
       "dtype=f16 residual=f32 layout=row_strided align=2"},
      600, {4095, 4096, 4097, 32768, 65535, 65536, 65537, 131072, 131073, 262143, 262144});
}

TEST(RmsNormBwd, ManyRowsAreServed) {
  expect_served(entry(), "rows=4294967296 cols=8 dtype=bf16");
  expect_served(entry(), "rows=1099511627776 cols=1 dtype=f32");
}

/// dweight repeats when its plan does: the parts of the rows are part of it.
TEST(RmsNormBwd, PlansRepeat) {
  for (const std::string_view device : kKnownDevices) {
    const DeviceInfo info = find_device_info(device);
    for (const std::int64_t rows : {1, 63, 64, 100, 5000, 1000000}) {
      for (const std::int64_t cols : {1, 128, 4096, 65536}) {
        const AnyProblem problem = entry().op->parse(
            split_key_values(fmt::format("rows={} cols={} dtype=bf16", rows, cols)));
        for (const Variant* variant : entry().variants) {
          if (refusal_of(*variant, problem.get(), info)) continue;
          const Plan first = variant->plan(problem.get(), info, {});
          const Plan second = variant->plan(problem.get(), info, {});
          EXPECT_EQ(first.tiling, second.tiling);
          EXPECT_EQ(first.workspace_bytes, second.workspace_bytes);
          EXPECT_LE(first.workspace_bytes, std::size_t{1} << 28) << variant->id();
          const auto& one = std::get<LaunchStage>(first.stages.front().node);
          const auto& other = std::get<LaunchStage>(second.stages.front().node);
          EXPECT_EQ(one.launch.grid.x, other.launch.grid.x);
          EXPECT_EQ(one.params, other.params);
        }
      }
    }
  }
}

/// Where bulk copies serve, and that how a row is shared out follows from its length alone.
TEST(RmsNormBwd, RingsAreForLongAlignedRows) {
  const auto bulk = std::ranges::find(entry().variants, "rms_norm_bwd/sm90/bulk_v1", &Variant::id);
  if (bulk == entry().variants.end()) GTEST_SKIP() << "built without sm90";
  const DeviceInfo info = find_device_info("h100");
  const auto parse = [](std::string_view keys) {
    return entry().op->parse(split_key_values(keys));
  };
  const auto reason = [&](std::string_view keys) {
    return refusal_of(**bulk, parse(keys).get(), info).value_or(Refusal{}).reason;
  };
  EXPECT_EQ(reason("cols=7168 dtype=bf16 residual=f32"), "");
  EXPECT_EQ(reason("cols=16384 dtype=f16 residual=f16"), "");
  EXPECT_THAT(reason("cols=4096 dtype=bf16"), testing::HasSubstr("faster in registers"));
  EXPECT_THAT(reason("cols=8192 dtype=f32"), testing::HasSubstr("faster in registers"));
  EXPECT_THAT(reason("cols=8192 dtype=bf16 align=8"), testing::StartsWith("align 8 < 16"));
  EXPECT_THAT(reason("cols=8196 dtype=bf16 align=16 layout=row_strided"),
              testing::HasSubstr("8196 bf16 elements is not a multiple of 16 bytes"));
  EXPECT_THAT(reason("cols=32768 dtype=bf16"), testing::HasSubstr("a ring of two does not fit"));
  for (const char* keys : {" cols=8192 dtype=bf16", " cols=7168 dtype=bf16 residual=f32"}) {
    const auto of_rows = [&](int rows) {
      return (*bulk)->tilings(parse(fmt::format("rows={}{}", rows, keys)).get(), info);
    };
    EXPECT_EQ(of_rows(2), of_rows(16384)) << keys;
  }
}

TEST(RmsNormBwd, Past2To31Elements) {
  expect_right_past_2_31(entry(), "cols=4096 dtype=bf16 dweight=none");
}

}  // namespace
}  // namespace einkorn::test
