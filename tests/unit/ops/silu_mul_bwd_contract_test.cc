#include <string>

#include <gtest/gtest.h>

#include "tests/unit/ops/gated_arguments.h"

namespace einkorn {
namespace {

using Valid = test::SiluMulBwdArguments;
using Errors = test::MatchErrors<Valid>;

TEST(SiluMulBwdContract, WrongTensors) {
  Errors errors("tensors");
  errors.add("no dy", [](Valid&, auto& args) { args.dy = {}; });
  errors.add("no gate", [](Valid&, auto& args) { args.gate = {}; });
  errors.add("no dgate", [](Valid&, auto& args) { args.dgate = {}; });
  errors.add("no dup", [](Valid&, auto& args) { args.dup = {}; });
  errors.add("packed besides gate",
             [](Valid& v, auto& args) { args.packed = v.make({4, 12}, kBF16); });
  errors.add("dpacked besides dgate",
             [](Valid& v, auto& args) { args.dpacked = v.make({4, 12}, kBF16); });
  errors.add("gate besides packed", [](Valid& v, auto& args) {
    const TensorView gate = args.gate;
    v.pack(SiluMulBwd::Packing::kHalves);
    args.gate = gate;
  });
  errors.add("dup besides packed", [](Valid& v, auto& args) {
    const TensorView dup = args.dup;
    v.pack(SiluMulBwd::Packing::kHalves);
    args.dup = dup;
  });
  errors.add("no packed", [](Valid& v, auto& args) {
    v.pack(SiluMulBwd::Packing::kInterleaved);
    args.packed = {};
  });
  errors.add("no dpacked", [](Valid& v, auto& args) {
    v.pack(SiluMulBwd::Packing::kInterleaved);
    args.dpacked = {};
  });
  errors.add("packed of other size", [](Valid& v, auto& args) {
    v.pack(SiluMulBwd::Packing::kHalves);
    args.packed = v.make({4, 10}, kBF16);
  });
  errors.add("dy dtype", [](Valid& v, auto& args) { args.dy = v.make({4, 6}, kI32); });
  errors.add("gate of f64 alone", [](Valid& v, auto& args) { args.gate = v.make({4, 6}, kF64); });
  errors.add("dup rank", [](Valid& v, auto& args) { args.dup = v.make({2, 2, 6}, kBF16); });
  errors.add("dgate size", [](Valid& v, auto& args) { args.dgate = v.make({4, 5}, kBF16); });
  errors.add("dgate device", [](Valid&, auto& args) {
    args.dgate = {args.dgate.data(), kBF16, {4, 6}, cuda_device(1)};
  });
  errors.add("up transposed",
             [](Valid& v, auto& args) { args.up = v.make({6, 4}, kBF16).transpose(0, 1); });
}

TEST(SiluMulBwdContract, Overlaps) {
  Errors errors("overlaps");
  errors.add("dgate partly gate", [](Valid& v, auto& args) {
    const TensorView rows = v.make({5, 6}, kBF16);
    args.gate = rows.slice(0, 0, 4);
    args.dgate = rows.slice(0, 1, 5);
  });
  errors.add("dup partly dy", [](Valid& v, auto& args) {
    const TensorView rows = v.make({5, 6}, kBF16);
    args.dy = rows.slice(0, 0, 4);
    args.dup = rows.slice(0, 1, 5);
  });
  errors.add("dup is dgate", [](Valid&, auto& args) { args.dup = args.dgate; });
  errors.add("dgate and dup are dy", [](Valid&, auto& args) { args.dgate = args.dup = args.dy; });
  errors.add("dpacked partly packed", [](Valid& v, auto& args) {
    v.pack(SiluMulBwd::Packing::kHalves);
    const TensorView rows = v.make({5, 12}, kBF16);
    args.packed = rows.slice(0, 0, 4);
    args.dpacked = rows.slice(0, 1, 5);
  });
  errors.add("dy inside dpacked", [](Valid& v, auto& args) {
    v.pack(SiluMulBwd::Packing::kHalves);
    args.dy = args.dpacked.slice(1, 0, 6);
  });
}

TEST(SiluMulBwdContract, AcceptsInPlaceAndSlices) {
  for (const auto input : {&SiluMulBwd::Args::dy, &SiluMulBwd::Args::gate, &SiluMulBwd::Args::up}) {
    for (const auto output : {&SiluMulBwd::Args::dgate, &SiluMulBwd::Args::dup}) {
      Valid valid;
      valid.args.*output = valid.args.*input;
      EXPECT_EQ(SiluMulBwd::match(valid.args).rows, 4);
    }
  }
  Valid valid;
  // Gate and up as the halves of one buffer, their gradients in their places.
  const TensorView both = valid.make({4, 12}, kBF16);
  valid.args.gate = valid.args.dgate = both.slice(1, 0, 6);
  valid.args.up = valid.args.dup = both.slice(1, 6, 12);
  const auto problem = SiluMulBwd::match(valid.args);
  EXPECT_EQ(problem.layout, SiluMulBwd::Layout::kRowStrided);
  EXPECT_EQ(problem.align, 4);
  valid.pack(SiluMulBwd::Packing::kInterleaved);
  valid.args.dpacked = valid.args.packed;
  EXPECT_EQ(SiluMulBwd::match(valid.args).rows, 4);
}

TEST(SiluMulBwdContract, AcceptsNoRowsWithoutMemory) {
  SiluMulBwd::Args args;
  args.dy = {nullptr, kF32, {0, 6}, kCpuDevice};
  args.packed = args.dpacked = {nullptr, kF32, {0, 12}, kCpuDevice};
  args.packing = SiluMulBwd::Packing::kHalves;
  EXPECT_EQ(SiluMulBwd::match(args).rows, 0);
}

TEST(SiluMulBwdContract, WorkCountsFiveTensors) {
  for (const char* packing : {"split", "halves", "interleaved"}) {
    const auto problem = SiluMulBwd::parse(
        split_key_values(std::string("rows=10 cols=8 dtype=f16 packing=") + packing));
    EXPECT_EQ(SiluMulBwd::work(problem).min_bytes, 10 * 8 * 2 * 5) << packing;
  }
}

}  // namespace
}  // namespace einkorn
