#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "ops/activation/silu_mul/contract.h"
#include "tests/unit/allocation_count.h"
#include "tests/unit/golden.h"
#include "tests/unit/ops/op_test.h"

namespace einkorn {
namespace {

using test::GoldenErrors;

/// Arguments that match, to be spoiled one at a time.
struct Valid {
  SiluMul::Args args;
  std::vector<Tensor> storage;

  Valid() {
    args.gate = make({4, 6}, kBF16);
    args.up = make({4, 6}, kBF16);
    args.y = make({4, 6}, kBF16);
  }
  void pack(SiluMul::Packing packing) {
    args.gate = args.up = {};
    args.packed = make({4, 12}, kBF16);
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
  ASSERT_NO_THROW(static_cast<void>(SiluMul::match(valid.args)));
  spoil(valid, valid.args);
  errors.add(title, [&] { static_cast<void>(SiluMul::match(valid.args)); });
}

TEST(SiluMulContract, EveryCaseMatchesItsKeys) {
  for (const Case& one : SiluMul::cases()) {
    const auto problem = SiluMul::parse(split_key_values(one.keys));
    EXPECT_EQ(SiluMul::parse(split_key_values(SiluMul::print(problem))), problem) << one.name;
    if (one.level > 1 || problem.rows * problem.cols > (1 << 21)) continue;
    test::expect_inputs_match<SiluMul>(one.keys);
  }
}

TEST(SiluMulContract, EveryLayoutMatchesItsKeys) {
  for (const char* dtype : {"f32", "f16", "bf16"}) {
    for (const char* packing : {"split", "halves", "interleaved"}) {
      for (const char* rows : {"0", "1", "2", "5"}) {
        for (const char* cols : {"1", "3", "6", "8", "33"}) {
          const std::string keys = std::string("rows=") + rows + " cols=" + cols +
                                   " dtype=" + dtype + " packing=" + packing;
          test::expect_inputs_match<SiluMul>(keys);
          test::expect_inputs_match<SiluMul>(keys + " clamp=true rounding=silu");
          if (std::string_view(rows) < "2") continue;
          for (const char* align : {"4", "8", "16"}) {
            test::expect_inputs_match<SiluMul>(keys + " layout=row_strided align=" + align);
          }
        }
      }
    }
  }
}

TEST(SiluMulContract, PrintLeavesOutWhatParseCompletes) {
  const auto through = [](std::string_view keys) {
    return SiluMul::print(SiluMul::parse(split_key_values(keys)));
  };
  EXPECT_EQ(through(""), "rows=4096 cols=14336 dtype=bf16");
  EXPECT_EQ(through("cols=33 packing=halves"), "rows=4096 cols=33 dtype=bf16 packing=halves");
  EXPECT_EQ(through("clamp=true align=2"), "rows=4096 cols=14336 dtype=bf16 clamp=true align=2");
}

TEST(SiluMulContract, ParseErrors) {
  GoldenErrors errors("errors/silu_mul_parse.txt");
  const auto add_keys = [&](std::string_view keys) {
    errors.add(keys, [keys] { static_cast<void>(SiluMul::parse(split_key_values(keys))); });
  };
  add_keys("dtype=i8");
  add_keys("align=6");
  add_keys("dtype=f32 align=2");
  add_keys("cols=33 align=4");
  add_keys("rows=0 layout=row_strided");
  add_keys("cols=16777217");
  add_keys("rows=1099511627776 cols=16777216");
  add_keys("packing=both");
}

TEST(SiluMulContract, WrongTensors) {
  GoldenErrors errors("errors/silu_mul_tensors.txt");
  add(errors, "no gate", [](Valid&, auto& args) { args.gate = {}; });
  add(errors, "no up", [](Valid&, auto& args) { args.up = {}; });
  add(errors, "no y", [](Valid&, auto& args) { args.y = {}; });
  add(errors, "packed besides gate",
      [](Valid& v, auto& args) { args.packed = v.make({4, 12}, kBF16); });
  add(errors, "gate besides packed", [](Valid& v, auto& args) {
    const TensorView gate = args.gate;
    v.pack(SiluMul::Packing::kHalves);
    args.gate = gate;
  });
  add(errors, "no packed", [](Valid& v, auto& args) {
    v.pack(SiluMul::Packing::kInterleaved);
    args.packed = {};
  });
  add(errors, "packed odd", [](Valid& v, auto& args) {
    v.pack(SiluMul::Packing::kHalves);
    args.packed = v.make({4, 11}, kBF16);
  });
  add(errors, "packed of other size", [](Valid& v, auto& args) {
    v.pack(SiluMul::Packing::kHalves);
    args.packed = v.make({4, 10}, kBF16);
  });
  add(errors, "gate dtype", [](Valid& v, auto& args) { args.gate = v.make({4, 6}, kI32); });
  add(errors, "up dtype", [](Valid& v, auto& args) { args.up = v.make({4, 6}, kF32); });
  add(errors, "up rank", [](Valid& v, auto& args) { args.up = v.make({2, 2, 6}, kBF16); });
  add(errors, "y size", [](Valid& v, auto& args) { args.y = v.make({4, 5}, kBF16); });
  add(errors, "y device",
      [](Valid&, auto& args) { args.y = {args.y.data(), kBF16, {4, 6}, cuda_device(1)}; });
  add(errors, "up transposed",
      [](Valid& v, auto& args) { args.up = v.make({6, 4}, kBF16).transpose(0, 1); });
  add(errors, "y partly gate", [](Valid& v, auto& args) {
    const TensorView rows = v.make({5, 6}, kBF16);
    args.gate = rows.slice(0, 0, 4);
    args.y = rows.slice(0, 1, 5);
  });
  add(errors, "y inside packed", [](Valid& v, auto& args) {
    v.pack(SiluMul::Packing::kHalves);
    args.y = args.packed.slice(1, 0, 6);
  });
}

TEST(SiluMulContract, WrongScalars) {
  GoldenErrors errors("errors/silu_mul_scalars.txt");
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
  add(errors, "packing", [](Valid&, auto& args) { args.packing = SiluMul::Packing{9}; });
  add(errors, "rounding", [](Valid&, auto& args) { args.rounding = SiluMul::Rounding{9}; });
}

TEST(SiluMulContract, ScalarsOfThePlainFormAreNotLookedAt) {
  Valid valid;
  valid.args.limit = -1;
  EXPECT_EQ(SiluMul::match(valid.args).rows, 4);
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

TEST(SiluMulContract, MatchAllocatesNothing) {
  const Valid valid;
  const auto before = test::allocations();
  for (int i = 0; i < 10; ++i) static_cast<void>(SiluMul::match(valid.args));
  EXPECT_EQ(test::allocations(), before);
}

TEST(SiluMulContract, WorkCountsThreeTensors) {
  const auto problem = SiluMul::parse(split_key_values("rows=10 cols=8 dtype=f16"));
  EXPECT_EQ(SiluMul::work(problem).min_bytes, 10 * 8 * 2 * 3);
}

}  // namespace
}  // namespace einkorn
