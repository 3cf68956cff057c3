// Plans that go through sequences token by token: which stages, with what tilings and parameters.

#include "ops/linear_attention/tokens_plan.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <einkorn/registry.h>

#include "ops/linear_attention/gdn_prefill/contract.h"
#include "ops/linear_attention/kda_prefill/contract.h"
#include "ops/linear_attention/lightning_prefill/contract.h"
#include "tests/unit/ops/plan_stages.h"

namespace einkorn::linear_attention {
namespace {

using test::names;
using test::params_of;
using test::stage;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

template <class C = KdaPrefill>
auto problem_of(const std::string& pairs) {
  return C::parse(split_key_values(pairs));
}

DeviceInfo device() { return find_device_info("h100"); }

template <class C = KdaPrefill>
Plan plan_of(const std::string& pairs) {
  const auto problem = problem_of<C>(pairs);
  const auto tiling = Tokens::tilings(problem, device()).front();
  return plan_tokens<C>(problem, "file.cu", "tokens", tiling, device());
}

TEST(TokensPlan, OnePassForEveryHead) {
  const Plan plan = plan_of("batch=3 tokens=130 heads=2 value_heads=6 dtype=f16 value_dim=96");
  ASSERT_THAT(names(plan), ElementsAre("tokens"));
  EXPECT_EQ(plan.workspace_bytes, 0U);
  const LaunchStage& tokens = stage(plan, 0);
  EXPECT_EQ(tokens.launch.grid.x, 3U * 6 * 3);  // 32 rows of 96 a block
  EXPECT_EQ(tokens.launch.block.x, 128U);
  const auto params = params_of<TokensParams>(tokens);
  EXPECT_EQ(params.group, 3);
  EXPECT_EQ(params.parts, 3U);
  EXPECT_EQ(params.tokens, 130);
  EXPECT_GT(tokens.cost.flops, 0);
  EXPECT_THAT(tokens.entry, StartsWith("tokens<einkorn::linear_attention::StepTraits<"));
  EXPECT_THAT(tokens.entry, HasSubstr("128, false>, 16, 8, 2, 4, einkorn::none, float"));
}

TEST(TokensPlan, StatesOfBothOrders) {
  const std::string keys = "tokens=9 heads=1 key_dim=64 value_dim=48 dtype=f32 state_layout=";
  const auto kv = params_of<TokensParams>(stage(plan_of(keys + "kv"), 0));
  EXPECT_EQ(kv.state_key, 48);
  EXPECT_EQ(kv.state_value, 1);
  const auto vk = params_of<TokensParams>(stage(plan_of(keys + "vk"), 0));
  EXPECT_EQ(vk.state_key, 1);
  EXPECT_EQ(vk.state_value, 64);
}

TEST(TokensPlan, PackedSequencesAreLookedUp) {
  const Plan plan = plan_of("tokens=500 seqs=4 heads=2 dtype=f32 checkpoint_every=128");
  ASSERT_THAT(names(plan), ElementsAre("starts", "tokens"));
  EXPECT_EQ(plan.workspace_bytes, workspace_part(5 * sizeof(SequenceStart)));
  EXPECT_EQ(params_of<StartsParams>(stage(plan, 0)).checkpoint_chunks, 2);
  EXPECT_EQ(params_of<TokensParams>(stage(plan, 1)).checkpoint_every, 128);
  EXPECT_EQ(stage(plan, 1).launch.grid.x, 4U * 2 * 4);
}

TEST(TokensPlan, CutsMakeNoDifference) {
  const std::string keys = "tokens=400 heads=1 dtype=bf16 initial_state=f32";
  const Plan whole = plan_of(keys);
  const Plan cut = plan_of(keys + " segment=128");
  ASSERT_THAT(names(cut), ElementsAre("tokens"));
  EXPECT_EQ(stage(cut, 0).entry, stage(whole, 0).entry);
  EXPECT_EQ(stage(cut, 0).launch.grid.x, stage(whole, 0).launch.grid.x);
}

TEST(TokensPlan, NothingToDo) {
  EXPECT_TRUE(plan_of("tokens=0 heads=2 dtype=f32 final_state=none").stages.empty());
  // A state is passed on all the same.
  EXPECT_THAT(names(plan_of("tokens=0 heads=2 dtype=f32")), ElementsAre("tokens"));
}

TEST(TokensPlan, EverySizeHasATiling) {
  for (int size = 1; size <= 256; ++size) {
    const auto problem = problem_of("tokens=2 heads=1 dtype=f16 key_dim=" + std::to_string(size));
    EXPECT_FALSE(Tokens::supports(problem, device())) << size;
    const auto tilings = Tokens::tilings(problem, device());
    ASSERT_FALSE(tilings.empty()) << size;
    // The fewest lanes with at most 16 columns each.
    const int lanes = tilings.front().lanes;
    EXPECT_GE(16 * lanes, size);
    EXPECT_TRUE(lanes == 1 || 8 * lanes < size) << size;
  }
}

TEST(TokensPlan, RefusesByName) {
  const auto problem = problem_of("tokens=64 heads=2 dtype=f32");
  const auto reason = [&](const Tokens::Tiling& tiling) {
    const auto refusal = Tokens::validate(problem, tiling, device());
    return refusal ? refusal->reason : "";
  };
  EXPECT_EQ(reason({.lanes = 8, .rows = 2, .warps = 4}), "");
  EXPECT_THAT(reason({.lanes = 12, .rows = 2, .warps = 4}), HasSubstr("lanes 12"));
  EXPECT_THAT(reason({.lanes = 4, .rows = 2, .warps = 4}), HasSubstr("32 columns"));
  EXPECT_THAT(reason({.lanes = 8, .rows = 5, .warps = 4}), HasSubstr("rows 5"));
  EXPECT_THAT(reason({.lanes = 8, .rows = 2, .warps = 9}), HasSubstr("warps 9"));
  const auto wide = problem_of("batch=65536 tokens=1 heads=65536 key_dim=1 dtype=f32");
  EXPECT_THAT(Tokens::supports(wide, device()).value_or(Refusal{}).reason, HasSubstr("blocks"));
}

TEST(TokensPlan, CallsAreBound) {
  Rng rng(1);
  const auto problem = problem_of(
      "tokens=70 heads=2 value_heads=4 dtype=f16 gate=softplus dt_bias=true initial_state=f32 "
      "negative_eigenvalues=true");
  const auto inputs = KdaPrefill::make_inputs(problem, rng);
  const auto tiling = Tokens::tilings(problem, device()).front();
  TokensParams params = tokens_params(problem, tiling);
  bind_tokens(prefill_call<KdaPrefill>(inputs.args), nullptr, params);
  EXPECT_EQ(params.g, inputs.args.g.data());
  EXPECT_EQ(params.a_log, inputs.args.a_log.data());
  EXPECT_EQ(params.dt_bias, inputs.args.dt_bias.data());
  EXPECT_EQ(params.initial, inputs.args.initial_state.data());
  EXPECT_EQ(params.checkpoints, nullptr);
  EXPECT_EQ(params.starts, nullptr);
  EXPECT_EQ(params.q_token, 256);
  EXPECT_EQ(params.g_token, 512);
  EXPECT_EQ(params.g_head, 128);
  EXPECT_EQ(params.beta_token, 4);
  EXPECT_EQ(params.o_head, 128);
  EXPECT_FLOAT_EQ(params.scale, 0.088388348F);
  EXPECT_FLOAT_EQ(params.beta_scale, 2);
}

TEST(TokensPlan, GatesOfOtherOps) {
  Rng rng(1);
  const auto gdn = problem_of<GdnPrefill>("tokens=70 heads=2 dtype=f16");
  const auto of_gdn = GdnPrefill::make_inputs(gdn, rng);
  TokensParams params = tokens_params(gdn, {});
  bind_tokens(prefill_call<GdnPrefill>(of_gdn.args), nullptr, params);
  EXPECT_EQ(params.g_token, 2);
  EXPECT_EQ(params.g_head, 1);
  const auto lightning = problem_of<LightningPrefill>("tokens=70 heads=2 dtype=f16");
  const auto of_lightning = LightningPrefill::make_inputs(lightning, rng);
  params = tokens_params(lightning, {});
  bind_tokens(prefill_call<LightningPrefill>(of_lightning.args), nullptr, params);
  EXPECT_EQ(params.g, of_lightning.args.decay.data());
  EXPECT_EQ(params.g_token, 0);
  EXPECT_EQ(params.g_head, 1);
  EXPECT_THAT(stage(plan_of<LightningPrefill>("tokens=70 heads=2 dtype=f16"), 0).entry,
              HasSubstr("einkorn::f16, float, einkorn::none, float, 2, 0, false"));
}

}  // namespace
}  // namespace einkorn::linear_attention
