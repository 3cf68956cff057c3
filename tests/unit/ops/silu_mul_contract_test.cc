#include <gtest/gtest.h>

#include "tests/unit/ops/gated_arguments.h"

namespace einkorn {
namespace {

using Valid = test::SiluMulArguments;
using Errors = test::MatchErrors<Valid>;

TEST(SiluMulContract, WrongTensors) {
  Errors errors("tensors");
  errors.add("no gate", [](Valid&, auto& args) { args.gate = {}; });
  errors.add("no up", [](Valid&, auto& args) { args.up = {}; });
  errors.add("no y", [](Valid&, auto& args) { args.y = {}; });
  errors.add("packed besides gate",
             [](Valid& v, auto& args) { args.packed = v.make({4, 12}, kBF16); });
  errors.add("gate besides packed", [](Valid& v, auto& args) {
    const TensorView gate = args.gate;
    v.pack(SiluMul::Packing::kHalves);
    args.gate = gate;
  });
  errors.add("no packed", [](Valid& v, auto& args) {
    v.pack(SiluMul::Packing::kInterleaved);
    args.packed = {};
  });
  errors.add("packed odd", [](Valid& v, auto& args) {
    v.pack(SiluMul::Packing::kHalves);
    args.packed = v.make({4, 11}, kBF16);
  });
  errors.add("packed of other size", [](Valid& v, auto& args) {
    v.pack(SiluMul::Packing::kHalves);
    args.packed = v.make({4, 10}, kBF16);
  });
  errors.add("gate dtype", [](Valid& v, auto& args) { args.gate = v.make({4, 6}, kI32); });
  errors.add("up dtype", [](Valid& v, auto& args) { args.up = v.make({4, 6}, kF32); });
  errors.add("up rank", [](Valid& v, auto& args) { args.up = v.make({2, 2, 6}, kBF16); });
  errors.add("y size", [](Valid& v, auto& args) { args.y = v.make({4, 5}, kBF16); });
  errors.add("y device",
             [](Valid&, auto& args) { args.y = {args.y.data(), kBF16, {4, 6}, cuda_device(1)}; });
  errors.add("up transposed",
             [](Valid& v, auto& args) { args.up = v.make({6, 4}, kBF16).transpose(0, 1); });
  errors.add("y partly gate", [](Valid& v, auto& args) {
    const TensorView rows = v.make({5, 6}, kBF16);
    args.gate = rows.slice(0, 0, 4);
    args.y = rows.slice(0, 1, 5);
  });
  errors.add("y inside packed", [](Valid& v, auto& args) {
    v.pack(SiluMul::Packing::kHalves);
    args.y = args.packed.slice(1, 0, 6);
  });
}

TEST(SiluMulContract, AcceptsInPlaceAndSlices) {
  Valid valid;
  valid.args.y = valid.args.up;
  EXPECT_EQ(SiluMul::match(valid.args).rows, 4);
  // Gate and up as the halves of one buffer, the result over the gate.
  const TensorView both = valid.make({4, 12}, kBF16);
  valid.args.gate = valid.args.y = both.slice(1, 0, 6);
  valid.args.up = both.slice(1, 6, 12);
  const auto problem = SiluMul::match(valid.args);
  EXPECT_EQ(problem.layout, SiluMul::Layout::kRowStrided);
  EXPECT_EQ(problem.align, 4);
}

TEST(SiluMulContract, AcceptsNoRowsWithoutMemory) {
  SiluMul::Args args;
  args.packed = {nullptr, kF32, {0, 12}, kCpuDevice};
  args.y = {nullptr, kF32, {0, 6}, kCpuDevice};
  args.packing = SiluMul::Packing::kHalves;
  EXPECT_EQ(SiluMul::match(args).rows, 0);
}

TEST(SiluMulContract, WorkCountsThreeTensors) {
  const auto problem = test::parse<SiluMul>("rows=10 cols=8 dtype=f16");
  EXPECT_EQ(SiluMul::work(problem).min_bytes, 10 * 8 * 2 * 3);
}

}  // namespace
}  // namespace einkorn
