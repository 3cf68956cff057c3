#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <einkorn/cuda.h>
#include <einkorn/registry.h>

#include "ops/activation/silu_mul_bwd/contract.h"
#include "tests/unit/allocation_count.h"
#include "tests/unit/golden.h"
#include "tests/unit/ops/op_test.h"

namespace einkorn {
namespace {

using test::GoldenErrors;

/// Arguments that match, to be spoiled one at a time.
struct Valid {
  SiluMulBwd::Args args;
  std::vector<Tensor> storage;

  Valid() {
    args.dy = make({4, 6}, kBF16);
    args.gate = make({4, 6}, kBF16);
    args.up = make({4, 6}, kBF16);
    args.dgate = make({4, 6}, kBF16);
    args.dup = make({4, 6}, kBF16);
  }
  void pack(SiluMulBwd::Packing packing) {
    args.gate = args.up = args.dgate = args.dup = {};
    args.packed = make({4, 12}, kBF16);
    args.dpacked = make({4, 12}, kBF16);
    args.packing = packing;
  }
  TensorView make(std::initializer_list<std::int64_t> shape, DType dtype) {
    storage.push_back(Tensor::empty(shape, dtype, kCpuDevice));
    return storage.back();
  }
};

template <class F>
void add(GoldenErrors& errors, std::string_view title, F&& spoil) {
  Valid valid;
  ASSERT_NO_THROW(static_cast<void>(SiluMulBwd::match(valid.args)));
  spoil(valid, valid.args);
  errors.add(title, [&] { static_cast<void>(SiluMulBwd::match(valid.args)); });
}

TEST(SiluMulBwdContract, EveryCaseMatchesItsKeys) {
  for (const Case& one : SiluMulBwd::cases()) {
    const auto problem = SiluMulBwd::parse(split_key_values(one.keys));
    EXPECT_EQ(SiluMulBwd::parse(split_key_values(SiluMulBwd::print(problem))), problem) << one.name;
    if (one.level > 1 || problem.rows * problem.cols > (1 << 21)) continue;
    test::expect_inputs_match<SiluMulBwd>(one.keys);
  }
}

TEST(SiluMulBwdContract, EveryLayoutMatchesItsKeys) {
  for (const char* dtype : {"f32", "f16", "bf16", "f64"}) {
    for (const char* packing : {"split", "halves", "interleaved"}) {
      for (const char* rows : {"0", "1", "2", "5"}) {
        for (const char* cols : {"1", "3", "6", "8", "33"}) {
          const std::string keys = std::string("rows=") + rows + " cols=" + cols +
                                   " dtype=" + dtype + " packing=" + packing;
          test::expect_inputs_match<SiluMulBwd>(keys);
          test::expect_inputs_match<SiluMulBwd>(keys + " clamp=true rounding=silu");
          if (std::string_view(rows) < "2") continue;
          for (const char* align : {"8", "16"}) {
            test::expect_inputs_match<SiluMulBwd>(keys + " layout=row_strided align=" + align);
          }
        }
      }
    }
  }
}

TEST(SiluMulBwdContract, PrintLeavesOutWhatParseCompletes) {
  const auto through = [](std::string_view keys) {
    return SiluMulBwd::print(SiluMulBwd::parse(split_key_values(keys)));
  };
  EXPECT_EQ(through(""), "rows=4096 cols=14336 dtype=bf16");
  EXPECT_EQ(through("cols=33 packing=halves"), "rows=4096 cols=33 dtype=bf16 packing=halves");
  EXPECT_EQ(through("clamp=true align=2"), "rows=4096 cols=14336 dtype=bf16 clamp=true align=2");
}

TEST(SiluMulBwdContract, ParseErrors) {
  GoldenErrors errors("errors/silu_mul_bwd_parse.txt");
  const auto add_keys = [&](std::string_view keys) {
    errors.add(keys, [keys] { static_cast<void>(SiluMulBwd::parse(split_key_values(keys))); });
  };
  add_keys("dtype=i8");
  add_keys("align=6");
  add_keys("dtype=f64 align=4");
  add_keys("cols=33 align=4");
  add_keys("rows=0 layout=row_strided");
  add_keys("cols=16777217");
  add_keys("rows=1099511627776 cols=16777216");
  add_keys("packing=both");
}

TEST(SiluMulBwdContract, WrongTensors) {
  GoldenErrors errors("errors/silu_mul_bwd_tensors.txt");
  add(errors, "no dy", [](Valid&, auto& args) { args.dy = {}; });
  add(errors, "no gate", [](Valid&, auto& args) { args.gate = {}; });
  add(errors, "no dgate", [](Valid&, auto& args) { args.dgate = {}; });
  add(errors, "no dup", [](Valid&, auto& args) { args.dup = {}; });
  add(errors, "packed besides gate",
      [](Valid& v, auto& args) { args.packed = v.make({4, 12}, kBF16); });
  add(errors, "dpacked besides dgate",
      [](Valid& v, auto& args) { args.dpacked = v.make({4, 12}, kBF16); });
  add(errors, "gate besides packed", [](Valid& v, auto& args) {
    const TensorView gate = args.gate;
    v.pack(SiluMulBwd::Packing::kHalves);
    args.gate = gate;
  });
  add(errors, "dup besides packed", [](Valid& v, auto& args) {
    const TensorView dup = args.dup;
    v.pack(SiluMulBwd::Packing::kHalves);
    args.dup = dup;
  });
  add(errors, "no packed", [](Valid& v, auto& args) {
    v.pack(SiluMulBwd::Packing::kInterleaved);
    args.packed = {};
  });
  add(errors, "no dpacked", [](Valid& v, auto& args) {
    v.pack(SiluMulBwd::Packing::kInterleaved);
    args.dpacked = {};
  });
  add(errors, "packed of other size", [](Valid& v, auto& args) {
    v.pack(SiluMulBwd::Packing::kHalves);
    args.packed = v.make({4, 10}, kBF16);
  });
  add(errors, "dy dtype", [](Valid& v, auto& args) { args.dy = v.make({4, 6}, kI32); });
  add(errors, "gate of f64 alone", [](Valid& v, auto& args) { args.gate = v.make({4, 6}, kF64); });
  add(errors, "dup rank", [](Valid& v, auto& args) { args.dup = v.make({2, 2, 6}, kBF16); });
  add(errors, "dgate size", [](Valid& v, auto& args) { args.dgate = v.make({4, 5}, kBF16); });
  add(errors, "dgate device",
      [](Valid&, auto& args) { args.dgate = {args.dgate.data(), kBF16, {4, 6}, cuda_device(1)}; });
  add(errors, "up transposed",
      [](Valid& v, auto& args) { args.up = v.make({6, 4}, kBF16).transpose(0, 1); });
}

TEST(SiluMulBwdContract, Overlaps) {
  GoldenErrors errors("errors/silu_mul_bwd_overlaps.txt");
  add(errors, "dgate partly gate", [](Valid& v, auto& args) {
    const TensorView rows = v.make({5, 6}, kBF16);
    args.gate = rows.slice(0, 0, 4);
    args.dgate = rows.slice(0, 1, 5);
  });
  add(errors, "dup partly dy", [](Valid& v, auto& args) {
    const TensorView rows = v.make({5, 6}, kBF16);
    args.dy = rows.slice(0, 0, 4);
    args.dup = rows.slice(0, 1, 5);
  });
  add(errors, "dup is dgate", [](Valid&, auto& args) { args.dup = args.dgate; });
  add(errors, "dgate and dup are dy", [](Valid&, auto& args) { args.dgate = args.dup = args.dy; });
  add(errors, "dpacked partly packed", [](Valid& v, auto& args) {
    v.pack(SiluMulBwd::Packing::kHalves);
    const TensorView rows = v.make({5, 12}, kBF16);
    args.packed = rows.slice(0, 0, 4);
    args.dpacked = rows.slice(0, 1, 5);
  });
  add(errors, "dy inside dpacked", [](Valid& v, auto& args) {
    v.pack(SiluMulBwd::Packing::kHalves);
    args.dy = args.dpacked.slice(1, 0, 6);
  });
}

TEST(SiluMulBwdContract, WrongScalars) {
  GoldenErrors errors("errors/silu_mul_bwd_scalars.txt");
  add(errors, "limit", [](Valid&, auto& args) {
    args.clamp = true;
    args.limit = 0;
  });
  add(errors, "limit NaN", [](Valid&, auto& args) {
    args.clamp = true;
    args.limit = std::nan("");
  });
  add(errors, "alpha", [](Valid&, auto& args) {
    args.clamp = true;
    args.alpha = HUGE_VAL;
  });
  add(errors, "up_offset", [](Valid&, auto& args) {
    args.clamp = true;
    args.up_offset = std::nan("");
  });
  add(errors, "packing", [](Valid&, auto& args) { args.packing = SiluMulBwd::Packing{9}; });
  add(errors, "rounding", [](Valid&, auto& args) { args.rounding = SiluMulBwd::Rounding{9}; });
}

TEST(SiluMulBwdContract, ScalarsOfThePlainFormAreNotLookedAt) {
  Valid valid;
  valid.args.limit = -1;
  EXPECT_EQ(SiluMulBwd::match(valid.args).rows, 4);
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

TEST(SiluMulBwdContract, OnlyTheReferenceServesF64) {
  const auto view = registry();
  const OpEntry& entry = view->find("silu_mul_bwd");
  const auto problem = SiluMulBwd::parse(split_key_values("rows=3 cols=8 dtype=f64"));
  int refused = 0;
  for (const Variant* variant : entry.variants) {
    if (variant == entry.op->reference_variant) continue;
    const auto refusal = variant->supports(&problem, find_device_info("h100"));
    ASSERT_TRUE(refusal) << variant->id();
    EXPECT_THAT(refusal->reason, testing::HasSubstr("f64")) << variant->id();
    ++refused;
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(explain(entry, &problem, cpu_info()).chosen, entry.op->reference_variant);
}

TEST(SiluMulBwdContract, MatchAllocatesNothing) {
  const Valid valid;
  const auto before = test::allocations();
  for (int i = 0; i < 10; ++i) static_cast<void>(SiluMulBwd::match(valid.args));
  EXPECT_EQ(test::allocations(), before);
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
