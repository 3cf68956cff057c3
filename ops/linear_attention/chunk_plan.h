#pragma once

// Plans of the variants that work on chunks: what stands in the workspace and what each stage is
// launched with. Which kernels the stages run is the variant's.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <einkorn/device.h>
#include <einkorn/expression.h>
#include <einkorn/plan.h>

#include "ops/linear_attention/chunk_params.h"
#include "ops/linear_attention/prefill.h"

namespace einkorn::linear_attention {

/// Sizes of a problem's parts. Of packed sequences the lengths are not known here, so that these
/// are upper bounds, and blocks beyond what there is return at once.
struct ChunkSizes {
  /// `wanted`: segments that each sequence is to have, one after the other; fewer, where it has
  /// fewer chunks. Not of cut or packed sequences.
  explicit ChunkSizes(const PrefillProblem& problem, std::int64_t wanted = 1);

  std::int64_t sequences;
  std::int64_t chunks;
  std::int64_t segments;
  std::int64_t segment_chunks;  ///< of one; as many as a sequence can have where none is cut
  std::int64_t slices = 1;      ///< of a sequence
  bool cut;                     ///< segments run side by side and are merged

  /// Chunks that a launch about a slice, or about all, may have.
  std::int64_t slice_chunks() const { return slices > 1 ? sequences * segment_chunks : chunks; }
};

/// Bytes of a workspace, whose begin they are, that the starts of packed sequences take; else 0.
std::size_t starts_bytes(const PrefillProblem& problem);
/// Where they are, or null.
const SequenceStart* bound_starts(const PrefillCall& call, const std::byte* workspace);

/// Bytes from the workspace's begin to each part behind the starts.
struct ChunkScratch {
  ChunkScratch(const PrefillProblem& problem, const ChunkSizes& sizes, std::size_t record_bytes);

  std::size_t records = 0;
  std::size_t carried = 0;
  std::size_t partial = 0;
  std::size_t bytes = 0;  ///< all of it
};

/// Why no variant on chunks serves the problem on any device.
std::optional<Refusal> refuse_chunks(const PrefillProblem& problem);

/// The kernels of a variant and what they are launched with.
struct ChunkKernels {
  const char* file;
  std::string name;        ///< qualified, of the last pass's
  int resident = 3;        ///< preparing blocks on a multiprocessor
  int stages = 3;          ///< chunks that a recurrence's block holds
  int slices = 1;          ///< of a sequence, preparing one beside the recurrence over another
  int halves = 2;          ///< blocks for a value head
  int threads = 192;       ///< of a recurrence's block
  std::uint32_t smem = 0;  ///< likewise, bytes
  int static_smem = 0;     ///< and without being asked
  bool pdl = true;
  bool head_record = false;  ///< the record is HeadRecord

  std::size_t record_bytes() const { return head_record ? HeadRecord::kBytes : Record::kBytes; }
};

/// Parameters with all that depends on the problem alone; of pointers into the workspace, how far
/// they are from its begin.
StartsParams starts_params(const PrefillProblem& problem);
PrepareParams prepare_params(const PrefillProblem& problem, const ChunkKernels& kernels,
                             std::int64_t slice = 0);
RecurrenceParams recurrence_params(const PrefillProblem& problem, const ChunkKernels& kernels,
                                   std::int64_t slice = 0);

/// Write what depends on the call.
void bind_starts(const PrefillCall& call, std::byte* workspace, StartsParams& params);
void bind_prepare(const PrefillCall& call, std::byte* workspace, PrepareParams& params);
void bind_recurrence(const PrefillCall& call, std::byte* workspace, RecurrenceParams& params);

/// What the stages do, of all slices together, for predictions.
Cost prepare_cost(const PrefillKind& kind, const PrefillProblem& problem,
                  const ChunkKernels& kernels);
Cost recurrence_cost(const PrefillProblem& problem, const ChunkKernels& kernels);

/// What of a cost is one slice's.
Cost share_of(const Cost& cost, const ChunkKernels& kernels);

/// Kernels that all share.
inline constexpr const char* kStartsEntry = "einkorn::linear_attention::write_starts";

/// How each stage is launched.
cuda::Launch starts_launch(bool pdl);
cuda::Launch prepare_launch(const PrefillKind& kind, const PrefillProblem& problem,
                            const ChunkKernels& kernels);
cuda::Launch partial_launch(const PrefillProblem& problem, const ChunkKernels& kernels);
cuda::Launch merge_launch(const PrefillProblem& problem, const ChunkKernels& kernels);
cuda::Launch recurrence_launch(const PrefillProblem& problem, const ChunkKernels& kernels);

/// What each stage's kernel takes at most.
Needs starts_needs();
Needs prepare_needs(const ChunkKernels& kernels);
Needs merge_needs();
Needs recurrence_needs(const ChunkKernels& kernels);

/// The entry of each stage that is a template.
std::string prepare_entry(const PrefillKind& kind, const PrefillProblem& problem,
                          const ChunkKernels& kernels);
std::string partial_entry(const ChunkKernels& kernels);
std::string merge_entry(const PrefillProblem& problem);
std::string recurrence_entry(const PrefillProblem& problem, const ChunkKernels& kernels);

/// The stage that finds where packed sequences begin, of op C; its kernel is in `file`, too.
template <class C>
LaunchStage starts_stage(const PrefillProblem& problem, const char* file, bool pdl) {
  using Args = typename C::Args;
  LaunchStage stage = launch_stage<Args, StartsParams>(
      "starts", file, kStartsEntry, starts_launch(pdl), starts_params(problem),
      [](const Args& args, std::byte* workspace, StartsParams& params) {
        bind_starts(prefill_call<C>(args), workspace, params);
      });
  stage.needs = starts_needs();
  return stage;
}

/// Preparing a slice, or all.
template <class C>
LaunchStage prepare_stage(const PrefillProblem& problem, const ChunkKernels& kernels,
                          std::int64_t slice) {
  using Args = typename C::Args;
  LaunchStage stage = launch_stage<Args, PrepareParams>(
      "prepare", kernels.file, prepare_entry(C::kKind, problem, kernels),
      prepare_launch(C::kKind, problem, kernels), prepare_params(problem, kernels, slice),
      [](const Args& args, std::byte* workspace, PrepareParams& params) {
        bind_prepare(prefill_call<C>(args), workspace, params);
      });
  stage.needs = prepare_needs(kernels);
  stage.cost = share_of(prepare_cost(C::kKind, problem, kernels), kernels);
  return stage;
}

/// A pass of the recurrence's parameters over a slice, or over all.
template <class C>
LaunchStage pass_stage(const char* name, std::string entry, const cuda::Launch& launch,
                       const PrefillProblem& problem, const ChunkKernels& kernels,
                       std::int64_t slice = 0) {
  using Args = typename C::Args;
  return launch_stage<Args, RecurrenceParams>(
      name, kernels.file, std::move(entry), launch, recurrence_params(problem, kernels, slice),
      [](const Args& args, std::byte* workspace, RecurrenceParams& params) {
        bind_recurrence(prefill_call<C>(args), workspace, params);
      });
}
template <class C>
LaunchStage recurrence_stage(const PrefillProblem& problem, const ChunkKernels& kernels,
                             std::int64_t slice) {
  LaunchStage stage = pass_stage<C>("recurrence", recurrence_entry(problem, kernels),
                                    recurrence_launch(problem, kernels), problem, kernels, slice);
  // Other slices' also need the recurrence before, which may still run when it could begin.
  stage.launch.pdl = kernels.pdl && slice == 0;
  stage.needs = recurrence_needs(kernels);
  stage.cost = share_of(recurrence_cost(problem, kernels), kernels);
  return stage;
}

/// The stages of op C.
template <class C>
Plan plan_chunks(const typename C::Problem& problem, ChunkKernels kernels) {
  Plan out;
  if (problem.empty()) return out;
  const ChunkSizes sizes(problem, kernels.slices);
  kernels.slices = static_cast<int>(sizes.slices);
  out.workspace_bytes = ChunkScratch(problem, sizes, kernels.record_bytes()).bytes;
  if (problem.seqs > 0)
    out.stages.emplace_back(starts_stage<C>(problem, kernels.file, kernels.pdl));
  // A recurrence lets the preparation of the next slice begin beside it (prepare.cuh).
  if (sizes.slices > 1) {
    for (std::int64_t i = 0; i < sizes.slices; ++i) {
      Sequence slice;
      slice.name = "slice" + std::to_string(i);
      slice.stages.emplace_back(prepare_stage<C>(problem, kernels, i));
      slice.stages.emplace_back(recurrence_stage<C>(problem, kernels, i));
      out.stages.emplace_back(std::move(slice));
    }
    return out;
  }
  if (sizes.chunks > 0) out.stages.emplace_back(prepare_stage<C>(problem, kernels, 0));
  if (sizes.cut) {
    LaunchStage partial = pass_stage<C>("partial", partial_entry(kernels),
                                        partial_launch(problem, kernels), problem, kernels);
    partial.needs = recurrence_needs(kernels);
    out.stages.emplace_back(std::move(partial));
    LaunchStage merge = pass_stage<C>("merge", merge_entry(problem), merge_launch(problem, kernels),
                                      problem, kernels);
    merge.needs = merge_needs();
    out.stages.emplace_back(std::move(merge));
  }
  out.stages.emplace_back(recurrence_stage<C>(problem, kernels, 0));
  return out;
}

/// What the variants by wgmma have in common, and those by mma: what they serve and with what
/// tilings. Each adds its plan.
struct ChunkWgmma {
  struct Tiling {
    int resident = 3;  ///< blocks that prepare chunks on each multiprocessor
    int slices = 1;    ///< of a sequence, preparing one beside the recurrence over another

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{
          field("resident", &Tiling::resident, "preparing blocks on a multiprocessor"),
          field("slices", &Tiling::slices, "parts of a sequence that overlap")};
    }
  };

  static std::optional<Refusal> supports(const PrefillProblem& problem, const DeviceInfo& device);
  static std::optional<Refusal> validate(const PrefillProblem& problem, const Tiling& tiling,
                                         const DeviceInfo& device);
  static std::vector<Tiling> tilings(const PrefillProblem& problem, const DeviceInfo& device);
  /// Of head_kernels(), whose slices win little: they are for a tuner.
  static std::vector<Tiling> head_tilings(const PrefillProblem& problem, const DeviceInfo& device);
  /// The first of tilings().
  static Tiling heuristic(const PrefillProblem& problem, const DeviceInfo& device);
  static ChunkKernels kernels(const char* file, const char* name, const Tiling& tiling);
  /// Of an op whose recurrence takes q and k as they came.
  static ChunkKernels head_kernels(const char* file, const char* name, const Tiling& tiling);
};

struct ChunkMma {
  struct Tiling {
    int resident = 2;  ///< blocks that prepare chunks on each multiprocessor
    int stages = 2;    ///< chunks that a block of the recurrence holds

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{
          field("resident", &Tiling::resident, "preparing blocks on a multiprocessor"),
          field("stages", &Tiling::stages, "chunks that a block holds")};
    }
  };

  static std::optional<Refusal> supports(const PrefillProblem& problem, const DeviceInfo& device);
  static std::optional<Refusal> validate(const PrefillProblem& problem, const Tiling& tiling,
                                         const DeviceInfo& device);
  static std::vector<Tiling> tilings(const PrefillProblem& problem, const DeviceInfo& device);
  static ChunkKernels kernels(const char* file, const char* name, const Tiling& tiling,
                              const DeviceInfo& device);
};

}  // namespace einkorn::linear_attention
