// Plans over chunks with a decay a head: which stages, what they are launched with.

#include "ops/linear_attention/decay_plan.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ops/linear_attention/lightning_prefill/contract.h"
#include "tests/unit/ops/plan_stages.h"

namespace einkorn::linear_attention {
namespace {

using test::names;
using test::params_of;
using test::stage;

Plan plan_of(const std::string& pairs, int halves = 2) {
  DecayKernels kernels;
  kernels.file = "file.cu";
  kernels.name = "chunk";
  kernels.halves = halves;
  kernels.threads = 256;
  kernels.smem = 1000;
  kernels.tiling = {halves, 4};
  return plan_decay<LightningPrefill>(LightningPrefill::parse(split_key_values(pairs)), kernels);
}

TEST(DecayPlan, OnePassOverWholeSequences) {
  const Plan plan = plan_of("batch=3 tokens=130 heads=2 value_heads=6 dtype=bf16");
  ASSERT_EQ(names(plan), (std::vector<std::string>{"chunks"}));
  EXPECT_EQ(plan.workspace_bytes, 0U);
  const LaunchStage& chunks = stage(plan, 0);
  EXPECT_EQ(chunks.launch.grid.x, 12U);  // two halves of six heads
  EXPECT_EQ(chunks.launch.grid.y, 3U);
  EXPECT_EQ(chunks.launch.block.x, 256U);
  EXPECT_EQ(chunks.launch.smem_bytes, 1000U);
  EXPECT_EQ(params_of<DecayParams>(chunks).group, 3);
  EXPECT_EQ(params_of<DecayParams>(chunks).sequences.segment_chunks, 3);
  EXPECT_GT(chunks.cost.flops, 0);
  EXPECT_EQ(chunks.entry.find("chunk<2, 4, false,"), 0U) << chunks.entry;
}

TEST(DecayPlan, StartsOfPackedSequencesComeFirst) {
  const Plan plan = plan_of("tokens=500 seqs=4 heads=2 dtype=bf16 l2norm=true", 1);
  ASSERT_EQ(names(plan), (std::vector<std::string>{"starts", "chunks"}));
  EXPECT_EQ(plan.workspace_bytes, workspace_part(5 * sizeof(SequenceStart)));
  EXPECT_EQ(stage(plan, 1).launch.grid.x, 2U);
  EXPECT_EQ(stage(plan, 1).launch.grid.y, 4U);
  EXPECT_EQ(stage(plan, 1).entry.find("chunk<1, 4, true,"), 0U) << stage(plan, 1).entry;
}

TEST(DecayPlan, CutSequencesAreCarriedOn) {
  const Plan plan = plan_of("tokens=1000 heads=2 dtype=bf16 segment=128 initial_state=bf16");
  ASSERT_EQ(names(plan), (std::vector<std::string>{"partial", "carry", "chunks"}));
  constexpr std::size_t kSegments = 8;
  EXPECT_EQ(plan.workspace_bytes, kSegments * 2 * 128 * 128 * sizeof(float));
  for (const std::size_t i : {0U, 2U}) {
    EXPECT_EQ(stage(plan, i).launch.grid.x, 4U);
    EXPECT_EQ(stage(plan, i).launch.grid.y, kSegments);
    EXPECT_EQ(params_of<DecayParams>(stage(plan, i)).sequences.segment_chunks, 2);
    EXPECT_EQ(params_of<DecayParams>(stage(plan, i)).carried_at, 0U);
  }
  EXPECT_EQ(stage(plan, 0).entry, "chunk_partial<2, 4, false>");
  EXPECT_EQ(stage(plan, 1).launch.grid.x, 2U * kCarryBlocks);
  EXPECT_EQ(stage(plan, 1).launch.grid.y, 1U);
}

TEST(DecayPlan, NothingToDo) {
  EXPECT_TRUE(plan_of("tokens=0 heads=2 dtype=bf16 final_state=none").stages.empty());
  // A state is passed on all the same.
  EXPECT_EQ(names(plan_of("tokens=0 heads=2 dtype=bf16")), (std::vector<std::string>{"chunks"}));
}

TEST(DecayPlan, CallsAreBound) {
  Rng rng(1);
  auto inputs = LightningPrefill::make_inputs(
      LightningPrefill::parse(split_key_values(
          "tokens=70 heads=2 value_heads=4 dtype=bf16 gate=factor initial_state=f32")),
      rng);
  const auto call = prefill_call<LightningPrefill>(inputs.args);
  DecayParams bound{};
  bind_decay(call, nullptr, bound);
  EXPECT_EQ(bound.q, inputs.args.q.data());
  EXPECT_EQ(bound.k, inputs.args.k.data());
  EXPECT_EQ(bound.v, inputs.args.v.data());
  EXPECT_EQ(bound.initial, inputs.args.initial_state.data());
  EXPECT_EQ(bound.q_token, 256);
  EXPECT_EQ(bound.q_head, 128);
  EXPECT_EQ(bound.v_token, 512);
  EXPECT_EQ(bound.factor, 1);
  EXPECT_FLOAT_EQ(bound.scale, 0.088388348F);
}

}  // namespace
}  // namespace einkorn::linear_attention
