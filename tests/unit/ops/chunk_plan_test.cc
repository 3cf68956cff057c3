// Plans over chunks that are prepared first: which stages, what they are launched with, and what no
// device serves.

#include "ops/linear_attention/chunk_plan.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <einkorn/registry.h>

#include "ops/linear_attention/gdn_prefill/contract.h"
#include "ops/linear_attention/kda_prefill/contract.h"
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
typename C::Problem problem_of(const std::string& pairs) {
  return C::parse(split_key_values(pairs + " dtype=bf16"));
}

template <class C = KdaPrefill>
Plan plan_of(const std::string& pairs) {
  return plan_chunks<C>(problem_of<C>(pairs), ChunkWgmma::kernels("file.cu", "chunk", {}));
}

std::string refusal_of(const std::string& pairs) {
  const auto refusal = refuse_chunks(KdaPrefill::parse(split_key_values(pairs)));
  return refusal ? refusal->reason : "";
}

TEST(ChunkPlan, WholeSequencesArePreparedThenRun) {
  const Plan plan = plan_of("batch=3 tokens=130 heads=2 value_heads=6");
  ASSERT_THAT(names(plan), ElementsAre("prepare", "recurrence"));
  // Three chunks a row.
  EXPECT_EQ(plan.workspace_bytes, workspace_part(std::size_t{3} * 3 * 6 * Record::kBytes));
  const LaunchStage& prepare = stage(plan, 0);
  EXPECT_EQ(prepare.launch.grid.x, 6U);
  EXPECT_EQ(prepare.launch.grid.y, 9U);
  EXPECT_EQ(prepare.launch.grid.z, 1U);
  EXPECT_EQ(params_of<PrepareParams>(prepare).group, 3);
  EXPECT_THAT(prepare.entry, StartsWith("einkorn::linear_attention::prepare_chunks<"));
  const LaunchStage& recurrence = stage(plan, 1);
  EXPECT_EQ(recurrence.launch.grid.x, 12U);  // two halves of V
  EXPECT_EQ(recurrence.launch.grid.y, 3U);
  EXPECT_EQ(params_of<RecurrenceParams>(recurrence).sequences.tokens, 130);
  EXPECT_THAT(recurrence.entry, StartsWith("chunk<3, einkorn::none, float"));
  for (const Stage& one : plan.stages) {
    EXPECT_GT(std::get<LaunchStage>(one.node).cost.flops, 0);
    EXPECT_GT(std::get<LaunchStage>(one.node).needs.registers, 0);
  }
}

TEST(ChunkPlan, AGateOfHeadsHasItsOwnKernelAndFewerBytes) {
  const std::string pairs = "tokens=640 heads=2 gate=softplus";
  const Plan heads = plan_of<GdnPrefill>(pairs);
  const Plan channels = plan_of(pairs);
  EXPECT_THAT(stage(heads, 0).entry,
              StartsWith("einkorn::linear_attention::prepare_head_gate_chunks<"));
  EXPECT_EQ(stage(channels, 0).cost.bytes - stage(heads, 0).cost.bytes, 10.0 * 2 * 64 * 127 * 2);
  // And where the recurrence takes q and k as they came, a smaller record.
  const ChunkKernels small = ChunkWgmma::head_kernels("chunk.cu", "chunk", {});
  const Plan factors = plan_chunks<GdnPrefill>(problem_of<GdnPrefill>(pairs), small);
  EXPECT_EQ(factors.workspace_bytes, workspace_part(std::size_t{10} * 2 * HeadRecord::kBytes));
  EXPECT_THAT(stage(factors, 0).entry, testing::EndsWith(", true>"));
  EXPECT_EQ(stage(factors, 0).launch.smem_bytes, std::uint32_t{kPrepareHeadSmem});
}

TEST(ChunkPlan, StartsOfPackedSequencesComeFirst) {
  const Plan plan = plan_of("tokens=500 seqs=4 heads=2");
  ASSERT_THAT(names(plan), ElementsAre("starts", "prepare", "recurrence"));
  // At most one chunk more for each sequence than there are whole ones.
  EXPECT_EQ(stage(plan, 1).launch.grid.y, 7U + 4U);
  EXPECT_EQ(stage(plan, 2).launch.grid.y, 4U);
  const auto params = params_of<RecurrenceParams>(stage(plan, 2));
  EXPECT_EQ(params.records_at, workspace_part(5 * sizeof(SequenceStart)));
  EXPECT_EQ(params.sequences.count, 4);
}

TEST(ChunkPlan, CutSequencesAreMerged) {
  const Plan plan = plan_of("tokens=1000 heads=2 segment=256 initial_state=bf16 state_layout=vk");
  ASSERT_THAT(names(plan), ElementsAre("prepare", "partial", "merge", "recurrence"));
  constexpr std::size_t kStates = 4 * 2;  // four segments of two heads
  constexpr std::size_t kState = sizeof(float) * kChunkDim * kChunkDim;
  const auto params = params_of<RecurrenceParams>(stage(plan, 3));
  EXPECT_EQ(params.carried_at, workspace_part(std::size_t{16} * 2 * Record::kBytes));
  EXPECT_EQ(params.partial_at - params.carried_at, kStates * kState);
  EXPECT_EQ(plan.workspace_bytes - params.partial_at, 2 * kStates * kState);
  EXPECT_EQ(params.sequences.segment_chunks, 4);
  EXPECT_EQ(stage(plan, 1).launch.grid.x, 2 * stage(plan, 3).launch.grid.x);  // the identity's, too
  EXPECT_EQ(stage(plan, 1).launch.grid.y, 4U);
  EXPECT_EQ(stage(plan, 2).launch.grid.x, 2U * kChunkDim / kMergeRows);
  EXPECT_EQ(stage(plan, 2).launch.grid.y, 1U);
  EXPECT_EQ(stage(plan, 2).entry, "einkorn::linear_attention::merge_states<einkorn::bf16, false>");
}

TEST(ChunkPlan, SlicesOverlap) {
  const auto problem = problem_of("batch=2 tokens=4109 heads=2");  // 65 chunks a row
  const Plan plan = plan_chunks<KdaPrefill>(
      problem,
      ChunkWgmma::kernels("file.cu", "chunk", {.resident = 2, .slices = 3, .growth = 200}));
  const std::vector<Leaf> all = leaves(plan);
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[2].path, "slice1/prepare");
  EXPECT_EQ(all[3].path, "slice1/recurrence");
  const auto launch = [&](std::size_t i) -> const LaunchStage& {
    return std::get<LaunchStage>(all[i].stage->node);
  };
  // Each twice as long as the one before: 65 / 7, 65 * 3 / 7, all.
  const Slice slices[] = {{0, 9}, {9, 19}, {28, 37}};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto is_the_slice = [&](Slice slice) {
      return slice.first == slices[i].first && slice.chunks == slices[i].chunks;
    };
    const LaunchStage& prepare = launch(2 * i);
    EXPECT_EQ(prepare.launch.grid.y, 2U * static_cast<unsigned>(slices[i].chunks));
    EXPECT_TRUE(prepare.launch.pdl);
    EXPECT_TRUE(is_the_slice(params_of<PrepareParams>(prepare).slice));
    const LaunchStage& recurrence = launch(2 * i + 1);
    EXPECT_EQ(recurrence.launch.grid.y, 2U);  // sequences
    EXPECT_TRUE(recurrence.launch.pdl);
    EXPECT_TRUE(is_the_slice(params_of<RecurrenceParams>(recurrence).slice));
  }
  const auto last = params_of<RecurrenceParams>(launch(5));
  EXPECT_EQ(last.sequences.segment_chunks, 65);
  // A state of each sequence and head, behind the records.
  constexpr std::size_t kStates = std::size_t{2} * 2 * sizeof(float) * kChunkDim * kChunkDim;
  EXPECT_EQ(last.progress_at, last.carried_at + kStates);
  EXPECT_EQ(params_of<PrepareParams>(launch(0)).progress_at, last.progress_at);
  constexpr std::size_t kProgress = std::size_t{2} * 2 * kProgressWords * sizeof(unsigned);
  EXPECT_EQ(plan.workspace_bytes, last.progress_at + workspace_part(kProgress));
  // The costs are shared out.
  const Plan whole = plan_of("batch=2 tokens=4109 heads=2");
  double bytes = 0;
  for (const Leaf& leaf : all) bytes += leaf.cost.bytes;
  EXPECT_NEAR(bytes, stage(whole, 0).cost.bytes + stage(whole, 1).cost.bytes, 1);
  // No more slices than chunks.
  const Plan few = plan_chunks<KdaPrefill>(problem_of("tokens=100 heads=2"),
                                           ChunkWgmma::kernels("file.cu", "chunk", {.slices = 8}));
  EXPECT_EQ(few.stages.size(), 2U);
}

TEST(ChunkPlan, SlicesFollowEachOther) {
  for (const int growth : {25, 80, 100, 150, 400}) {
    for (const int count : {1, 2, 5, 16}) {
      for (const std::int64_t chunks : {1, 2, 3, 64, 1000}) {
        const std::vector<Slice> slices = slices_of(chunks, count, growth);
        if (count == 1 || chunks == 1) {
          EXPECT_TRUE(slices.empty());
          continue;
        }
        EXPECT_LE(slices.size(), static_cast<std::size_t>(count));
        std::int64_t done = 0;
        for (const Slice& slice : slices) {
          EXPECT_EQ(slice.first, done);
          EXPECT_GE(slice.chunks, 1);
          done += slice.chunks;
        }
        EXPECT_EQ(done, chunks) << growth << " " << count;
      }
    }
  }
}

TEST(ChunkPlan, ABlockForBothHalves) {
  const auto problem = problem_of("batch=2 tokens=640 heads=3 final_state=bf16");
  const auto plan_with = [&](int halves) {
    return plan_chunks<KdaPrefill>(problem,
                                   ChunkWgmma::kernels("file.cu", "chunk", {.halves = halves}));
  };
  const Plan two = plan_with(2);
  const Plan one = plan_with(1);
  EXPECT_EQ(stage(two, 1).launch.grid.x, 6U);
  EXPECT_EQ(stage(one, 1).launch.grid.x, 3U);
  EXPECT_EQ(stage(two, 1).launch.block.x, 192U);
  EXPECT_EQ(stage(one, 1).launch.block.x, 384U);
  EXPECT_EQ(stage(one, 1).entry,
            "einkorn::linear_attention::whole_heads<3, einkorn::none, einkorn::bf16, "
            "einkorn::none, true>");
  const DeviceInfo h200 = find_device_info("h200");
  const auto halves = [&](const std::string& pairs) {
    return ChunkWgmma::heuristic(problem_of(pairs), h200).halves;
  };
  EXPECT_EQ(halves("tokens=8192 heads=64"), 2);          // 128 blocks for halves fit
  EXPECT_EQ(halves("batch=2 tokens=8192 heads=64"), 1);  // 256 do not, and 128 for heads do
  EXPECT_EQ(halves("batch=2 tokens=8192 heads=80"), 2);  // 320 in 3 waves, 160 in 2
  EXPECT_EQ(halves("batch=4 tokens=8192 heads=64"), 1);
  // Packed ones by the work of all: 138 chunks of 64 heads on 132 multiprocessors.
  EXPECT_EQ(halves("tokens=8192 seqs=10 longest=4096 heads=64"), 1);
  EXPECT_EQ(halves("tokens=8192 seqs=10 longest=8000 heads=32"), 2);
  EXPECT_EQ(halves("tokens=8192 heads=128 segment=4096"), 2);
  EXPECT_TRUE(ChunkWgmma::validate(problem, {.halves = 3}, h200));
  EXPECT_FALSE(ChunkWgmma::validate(problem, {.halves = 1}, h200));
  EXPECT_TRUE(ChunkWgmma::validate_head(problem, {.halves = 1}, h200));
  EXPECT_TRUE(
      ChunkWgmma::validate(problem_of("tokens=640 heads=4 segment=128"), {.halves = 1}, h200));
}

TEST(ChunkPlan, SlicesByWhatTheRecurrenceLeaves) {
  const DeviceInfo h200 = find_device_info("h200");  // 132 of them
  const auto slices = [&](const std::string& pairs) {
    return ChunkWgmma::heuristic(problem_of(pairs), h200).slices;
  };
  EXPECT_EQ(slices("tokens=65536 heads=32"), 8);
  EXPECT_EQ(slices("tokens=16384 heads=32"), 4);
  EXPECT_EQ(slices("tokens=8192 heads=16"), 4);
  EXPECT_EQ(slices("batch=2 tokens=8192 heads=8"), 4);
  EXPECT_EQ(slices("tokens=2048 heads=16"), 1);  // 32 chunks
  EXPECT_EQ(slices("tokens=65536 heads=34"), 2);
  EXPECT_EQ(slices("tokens=65536 heads=64"), 1);
  EXPECT_EQ(slices("tokens=1024 heads=64"), 1);
  EXPECT_EQ(slices("tokens=65536 seqs=2 heads=4"), 1);
  EXPECT_EQ(slices("tokens=65536 heads=4 segment=4096"), 1);
  // The first, which nothing hides, is the shortest where the others' preparation is hidden.
  EXPECT_EQ(ChunkWgmma::heuristic(problem_of("tokens=8192 heads=16"), h200).growth, 150);
  EXPECT_EQ(ChunkWgmma::heuristic(problem_of("tokens=65536 heads=32"), h200).growth, 100);
  for (const char* pairs : {"tokens=65536 heads=32", "tokens=64 heads=2",
                            "tokens=65536 heads=4 segment=4096", "tokens=640 seqs=2 heads=4"}) {
    const auto problem = problem_of(pairs);
    const auto tilings = ChunkWgmma::tilings(problem, h200);
    EXPECT_EQ(tilings.front(), ChunkWgmma::heuristic(problem, h200));
    for (const auto& tiling : tilings) {
      EXPECT_FALSE(ChunkWgmma::validate(problem, tiling, h200));
      EXPECT_EQ(std::ranges::count(tilings, tiling), 1);
    }
    for (const auto& tiling : ChunkWgmma::head_tilings(problem, h200)) {
      EXPECT_FALSE(ChunkWgmma::validate_head(problem, tiling, h200));
    }
  }
  const auto refused =
      ChunkWgmma::validate(problem_of("tokens=640 seqs=2 heads=4"), {.slices = 2}, h200);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->reason, "slices 2 > 1 of packed sequences");
  EXPECT_TRUE(ChunkWgmma::validate(problem_of("tokens=64 heads=2"), {.resident = 5}, h200));
  EXPECT_TRUE(ChunkWgmma::validate(problem_of("tokens=64 heads=2"), {.slices = 0}, h200));
  EXPECT_TRUE(ChunkWgmma::validate(problem_of("tokens=64 heads=2"), {.growth = 500}, h200));
}

TEST(ChunkPlan, TheCopyEngineBringsWhatManyBlocksPrepare) {
  const DeviceInfo h200 = find_device_info("h200");
  const auto resident = [&](const std::string& pairs) {
    return ChunkWgmma::heuristic(problem_of("gate=lower_bound l2norm=true " + pairs), h200)
        .resident;
  };
  EXPECT_EQ(resident("tokens=8192 heads=64"), 4);
  EXPECT_EQ(resident("batch=2 tokens=8192 heads=64"), 4);
  EXPECT_EQ(resident("tokens=8192 seqs=10 longest=4096 heads=64"), 4);
  EXPECT_EQ(resident("tokens=65536 heads=8 segment=8192"), 4);
  EXPECT_EQ(resident("tokens=1024 heads=64"), 3);  // 8 for each of 132 multiprocessors
  EXPECT_EQ(resident("tokens=8192 heads=64 gate_dtype=f32"), 3);
  EXPECT_EQ(ChunkWgmma::heuristic(problem_of("tokens=8192 heads=64 gate=log"), h200).resident, 3);
  const auto refused =
      ChunkWgmma::validate(problem_of("tokens=64 heads=2 gate=log"), {.resident = 4}, h200);
  ASSERT_TRUE(refused);
  EXPECT_EQ(
      refused->reason,
      "resident 4 of gate log in bf16, l2norm false: only lower_bound in 16 bits with l2norm");
  const auto problem = problem_of("tokens=640 heads=2 gate=lower_bound l2norm=true");
  const auto sliced = ChunkWgmma::validate(problem, {.resident = 4, .slices = 2}, h200);
  ASSERT_TRUE(sliced);
  EXPECT_EQ(sliced->reason, "resident 4 of 2 slices: only of all chunks at once");
  const auto prepare_with = [&](int preparing) {
    const auto kernels = ChunkWgmma::kernels("file.cu", "chunk", {.resident = preparing});
    return std::get<LaunchStage>(plan_chunks<KdaPrefill>(problem, kernels).stages.at(0).node);
  };
  const LaunchStage mapped = prepare_with(4);
  EXPECT_THAT(mapped.entry, HasSubstr("<einkorn::linear_attention::MappedPrepareParams, "));
  EXPECT_EQ(params_of<MappedPrepareParams>(mapped).sequences.tokens, 640);
  EXPECT_THAT(prepare_with(3).entry, HasSubstr("<einkorn::linear_attention::PrepareParams, "));
}

TEST(ChunkPlan, NothingToDo) {
  EXPECT_TRUE(plan_of("tokens=0 heads=2 final_state=none").stages.empty());
  // A state is passed on all the same.
  EXPECT_THAT(names(plan_of("tokens=0 heads=2")), ElementsAre("recurrence"));
}

TEST(ChunkPlan, RefusesByName) {
  EXPECT_EQ(refusal_of("tokens=64 heads=2 dtype=bf16"), "");
  EXPECT_THAT(refusal_of("tokens=64 heads=2 dtype=f16"), HasSubstr("dtype f16"));
  EXPECT_THAT(refusal_of("tokens=64 heads=2 key_dim=64 dtype=bf16"), HasSubstr("key_dim 64"));
  EXPECT_THAT(refusal_of("tokens=64 heads=2 dtype=bf16 align=8"), HasSubstr("align 8"));
  EXPECT_THAT(refusal_of("tokens=70000 seqs=70000 longest=1 heads=1 dtype=bf16"),
              HasSubstr("70000 sequences"));
}

TEST(ChunkPlan, TilingsByMmaFitTheDevice) {
  const auto problem = problem_of("tokens=64 heads=2");
  EXPECT_EQ(ChunkMma::tilings(problem, find_device_info("a100")).front().stages, 2);
  for (const auto& tiling : ChunkMma::tilings(problem, find_device_info("rtx4090"))) {
    EXPECT_EQ(tiling.stages, 1);  // 100 KiB a block
  }
  EXPECT_TRUE(ChunkMma::validate(problem, {.resident = 3}, find_device_info("a100")));
}

TEST(ChunkPlan, CallsAreBound) {
  Rng rng(1);
  const auto problem =
      problem_of("tokens=70 heads=2 value_heads=4 gate=softplus dt_bias=true initial_state=f32");
  const auto inputs = KdaPrefill::make_inputs(problem, rng);
  const auto call = prefill_call<KdaPrefill>(inputs.args);
  PrepareParams prepare = prepare_params(problem, ChunkKernels{});
  bind_prepare(call, nullptr, prepare);
  EXPECT_EQ(prepare.g, inputs.args.g.data());
  EXPECT_EQ(prepare.a_log, inputs.args.a_log.data());
  EXPECT_EQ(prepare.dt_bias, inputs.args.dt_bias.data());
  EXPECT_EQ(prepare.q_token, 256);
  EXPECT_EQ(prepare.g_token, 512);
  EXPECT_EQ(prepare.beta_token, 4);
  EXPECT_FLOAT_EQ(prepare.scale, 0.088388348F);
  RecurrenceParams recurrence = recurrence_params(problem, ChunkKernels{});
  bind_recurrence(call, nullptr, recurrence);
  EXPECT_EQ(recurrence.v, inputs.args.v.data());
  EXPECT_EQ(recurrence.initial, inputs.args.initial_state.data());
  EXPECT_EQ(recurrence.o_head, 128);
  EXPECT_EQ(recurrence.checkpoints, nullptr);
}

}  // namespace
}  // namespace einkorn::linear_attention
