// kda_prefill's contract: what it takes, what it makes of it, and how it says no.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <einkorn/cuda.h>

#include "ops/linear_attention/kda_prefill/contract.h"
#include "tests/unit/ops/prefill_contract.h"

namespace einkorn {
namespace {

using Valid = test::PrefillArguments<KdaPrefill>;

TEST(KdaPrefillContract, EveryCaseMatchesItsKeys) { test::expect_cases_match<KdaPrefill>(); }

TEST(KdaPrefillContract, EverySizeMatchesItsKeys) {
  for (const std::string sizes :
       {"batch=2 tokens=0 heads=1 key_dim=3", "batch=1 tokens=1 heads=1 key_dim=3",
        "batch=3 tokens=5 heads=3 key_dim=5 value_dim=2", "batch=1 tokens=7 heads=1 key_dim=1",
        "batch=1 tokens=130 heads=1 key_dim=6 checkpoint_every=64",
        "batch=1 tokens=7 seqs=4 heads=1 key_dim=6", "tokens=2 seqs=9 heads=2 key_dim=8",
        "tokens=0 seqs=4 heads=2 key_dim=8", "tokens=1000 seqs=5 longest=996 heads=2 key_dim=8",
        "tokens=1000 seqs=5 longest=200 heads=2 key_dim=8"}) {
    for (const std::string form :
         {"", " dtype=f32 align=4", " dtype=f16 gate_dtype=f32 gate=softplus dt_bias=true",
          " beta_dtype=f32 initial_state=bf16 final_state=none", " state_layout=vk align=2"}) {
      test::expect_inputs_match<KdaPrefill>(sizes + form);
    }
  }
}

TEST(KdaPrefillContract, ParseCompletes) {
  const auto parse = [](std::string_view keys) { return test::parse<KdaPrefill>(keys); };
  EXPECT_EQ(parse("heads=6").value_heads, 6);
  EXPECT_EQ(parse("key_dim=64").value_dim, 64);
  EXPECT_EQ(parse("tokens=100").longest, 100);
  EXPECT_EQ(parse("tokens=100 seqs=8").longest, 25);
  EXPECT_EQ(parse("tokens=5 seqs=1048576").seqs, 1 << 20);
  EXPECT_EQ(parse("dtype=f32").gate_dtype, kF32);
  EXPECT_EQ(parse("dtype=f32 beta_dtype=bf16").beta_dtype, kBF16);
  EXPECT_TRUE(parse("gate=softplus").a_log);
  EXPECT_FALSE(parse("gate=lower_bound").a_log);
  EXPECT_EQ(parse("checkpoint_every=64").checkpoints, kF32);
  EXPECT_EQ(parse("key_dim=6 value_dim=8").align, 4);
}

TEST(KdaPrefillContract, PrintLeavesOutWhatParseCompletes) {
  EXPECT_EQ(test::printed<KdaPrefill>(""),
            "batch=1 tokens=4096 heads=16 value_heads=16 key_dim=128 value_dim=128 dtype=bf16");
  EXPECT_EQ(test::printed<KdaPrefill>("tokens=640 heads=4 key_dim=64 dtype=f16 gate=softplus "
                                      "checkpoint_every=64 segment=128 gate_dtype=f32"),
            "batch=1 tokens=640 heads=4 value_heads=4 key_dim=64 value_dim=64 dtype=f16 "
            "gate_dtype=f32 gate=softplus checkpoint_every=64 segment=128");
}

TEST(KdaPrefillContract, MatchSaysWhatTheCallIs) {
  Valid valid;
  const auto problem = KdaPrefill::match(valid.args);
  EXPECT_EQ(KdaPrefill::print(problem),
            "batch=1 tokens=128 heads=2 value_heads=4 key_dim=8 value_dim=4 dtype=bf16 seqs=2 "
            "longest=64 gate_dtype=f32 beta_dtype=f16 gate=softplus dt_bias=true "
            "initial_state=f32 checkpoint_every=64");
  valid.unpack();
  EXPECT_EQ(KdaPrefill::match(valid.args).seqs, 0);
  EXPECT_EQ(KdaPrefill::match(valid.args).longest, 64);
}

TEST(KdaPrefillContract, OneTensorIsWrong) { test::expect_prefill_boundary<KdaPrefill>(); }
TEST(KdaPrefillContract, Strides) { test::expect_prefill_strides<KdaPrefill>(); }
TEST(KdaPrefillContract, Sequences) { test::expect_prefill_sequences<KdaPrefill>(); }
TEST(KdaPrefillContract, Scalars) { test::expect_prefill_scalars<KdaPrefill>(); }
TEST(KdaPrefillContract, ParseErrors) { test::expect_prefill_parse_errors<KdaPrefill>(); }

TEST(KdaPrefillContract, BoundsAreReadEachTime) {
  Valid valid;
  EXPECT_TRUE(KdaPrefill::reads_elements(valid.args));
  valid.unpack();
  EXPECT_FALSE(KdaPrefill::reads_elements(valid.args));
}

TEST(KdaPrefillContract, BoundsThatCannotBeReadBack) {
  if (cuda::available()) GTEST_SKIP() << "with a GPU here the bounds can be read back";
  Valid valid;
  for_each_tensor(valid.args, [](std::string_view name, Role, TensorView& view) {
    if (name == "cu_seqlens_cpu") return;
    view = {view.data(), view.dtype(), view.shape(), cuda_device(0)};
  });
  // The device is not here to ask; with the numbers on the CPU nothing else is asked of it.
  valid.args.split = linear_attention::Split::kOff;
  EXPECT_NO_THROW(static_cast<void>(KdaPrefill::match(valid.args)));
  valid.args.cu_seqlens_cpu = {};
  const std::string text =
      test::error_text([&] { static_cast<void>(KdaPrefill::match(valid.args)); });
  EXPECT_THAT(
      text, testing::HasSubstr("kda_prefill: cu_seqlens: expected a tensor that can be read back"));
  EXPECT_THAT(text, testing::HasSubstr("hint: while a graph is captured"));
}

TEST(KdaPrefillContract, WorkCountsEveryByteOnce) {
  const auto work = [](std::string_view keys) {
    return KdaPrefill::work(test::parse<KdaPrefill>(keys));
  };
  const std::string sizes = "tokens=10 heads=2 value_heads=4 key_dim=8 value_dim=4 dtype=bf16";
  const double tokens = 10 * (2 * 2 * 8 + 2 * 4 * 4 + 4 * 8 + 4) * 2;
  EXPECT_EQ(work(sizes + " final_state=none").min_bytes, tokens);
  EXPECT_EQ(work(sizes + " initial_state=bf16").min_bytes, tokens + 4 * 8 * 4 * (4 + 2));
  EXPECT_EQ(work(sizes + " gate=softplus dt_bias=true final_state=none").min_bytes,
            tokens + 4 * 4 + 4 * 8 * 4);
  EXPECT_EQ(work(sizes).useful_flops, 7.0 * 10 * 4 * 8 * 4);
  EXPECT_EQ(work("tokens=0").launches, 1);
  EXPECT_EQ(work("tokens=0 final_state=none").launches, 0);
}

TEST(KdaPrefillContract, ToleranceFollowsTheDtypes) {
  const auto rms = [](std::string_view keys) {
    return KdaPrefill::tolerance(test::parse<KdaPrefill>(keys)).rms;
  };
  EXPECT_LE(rms("tokens=8192"), 0.004);
  EXPECT_LT(rms("tokens=64 dtype=f16"), 0.001);
  EXPECT_LT(rms("tokens=64 dtype=f32"), 1e-4);
  EXPECT_GT(rms("tokens=64 dtype=f32 final_state=bf16"), 0.001);
}

TEST(KdaPrefillContract, MatchOfRowsAllocatesNothing) {
  Valid valid;
  valid.unpack();
  test::expect_match_allocates_nothing<KdaPrefill>(valid.args);
}

}  // namespace
}  // namespace einkorn
