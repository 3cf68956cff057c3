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
  explicit ChunkSizes(const PrefillProblem& problem);

  std::int64_t sequences;
  std::int64_t chunks;
  std::int64_t segments;
  std::int64_t segment_chunks;  ///< of one; as many as a sequence can have where none is cut
  bool cut;                     ///< segments run side by side and are merged
};

/// Bytes of a workspace, whose begin they are, that the starts of packed sequences take; else 0.
std::size_t starts_bytes(const PrefillProblem& problem);
/// Where they are, or null.
const SequenceStart* bound_starts(const PrefillCall& call, const std::byte* workspace);

struct ChunkKernels;

/// Bytes from the workspace's begin to each part behind the starts.
struct ChunkScratch {
  ChunkScratch(const PrefillProblem& problem, const ChunkKernels& kernels);

  std::size_t records = 0;
  std::size_t carried = 0;
  std::size_t partial = 0;
  std::size_t progress = 0;
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
  int growth = 100;        ///< chunks of a slice, in percent of those of the one before
  int halves = 2;          ///< blocks for a value head
  int threads = 192;       ///< of a recurrence's block
  std::uint32_t smem = 0;  ///< likewise, bytes
  int static_smem = 0;     ///< and without being asked
  bool pdl = true;
  bool head_record = false;  ///< the record is HeadRecord
  bool mapped = false;       ///< the copy engine brings what preparing reads

  std::size_t record_bytes() const { return head_record ? HeadRecord::kBytes : Record::kBytes; }
};

/// The slices of `chunks`, each of at least one and as long as `growth` says, to the nearest chunk.
/// None where there would be one: then all is one launch's.
std::vector<Slice> slices_of(std::int64_t chunks, int slices, int growth);

/// Parameters with all that depends on the problem alone; of pointers into the workspace, how far
/// they are from its begin.
StartsParams starts_params(const PrefillProblem& problem);
PrepareParams prepare_params(const PrefillProblem& problem, const ChunkKernels& kernels,
                             Slice slice = {});
RecurrenceParams recurrence_params(const PrefillProblem& problem, const ChunkKernels& kernels,
                                   Slice slice = {});

/// Write what depends on the call.
void bind_starts(const PrefillCall& call, std::byte* workspace, StartsParams& params);
void bind_prepare(const PrefillCall& call, std::byte* workspace, PrepareParams& params);
void bind_mapped_prepare(const PrefillCall& call, std::byte* workspace,
                         MappedPrepareParams& params);
void bind_recurrence(const PrefillCall& call, std::byte* workspace, RecurrenceParams& params);

/// What the stages do, of all slices together, for predictions.
Cost prepare_cost(const PrefillKind& kind, const PrefillProblem& problem,
                  const ChunkKernels& kernels);
Cost recurrence_cost(const PrefillProblem& problem, const ChunkKernels& kernels);

/// What of a cost is the slice's.
Cost share_of(const Cost& cost, const PrefillProblem& problem, Slice slice);

/// Kernels that all share.
inline constexpr const char* kStartsEntry =
    "einkorn::linear_attention::write_starts<einkorn::linear_attention::kStartsThreads>";

/// How each stage is launched.
cuda::Launch starts_launch(bool pdl);
cuda::Launch prepare_launch(const PrefillKind& kind, const PrefillProblem& problem,
                            const ChunkKernels& kernels, Slice slice = {});
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
LaunchStage prepare_stage(const PrefillProblem& problem, const ChunkKernels& kernels, Slice slice) {
  using Args = typename C::Args;
  const std::string entry = prepare_entry(C::kKind, problem, kernels);
  const cuda::Launch launch = prepare_launch(C::kKind, problem, kernels, slice);
  MappedPrepareParams params{};
  static_cast<PrepareParams&>(params) = prepare_params(problem, kernels, slice);
  LaunchStage stage =
      kernels.mapped ? launch_stage<Args, MappedPrepareParams>(
                           "prepare", kernels.file, entry, launch, params,
                           [](const Args& args, std::byte* workspace, MappedPrepareParams& bound) {
                             bind_mapped_prepare(prefill_call<C>(args), workspace, bound);
                           })
                     : launch_stage<Args, PrepareParams>(
                           "prepare", kernels.file, entry, launch, params,
                           [](const Args& args, std::byte* workspace, PrepareParams& bound) {
                             bind_prepare(prefill_call<C>(args), workspace, bound);
                           });
  stage.needs = prepare_needs(kernels);
  stage.cost = share_of(prepare_cost(C::kKind, problem, kernels), problem, slice);
  return stage;
}

/// A pass of the recurrence's parameters over a slice, or over all.
template <class C>
LaunchStage pass_stage(const char* name, std::string entry, const cuda::Launch& launch,
                       const PrefillProblem& problem, const ChunkKernels& kernels,
                       Slice slice = {}) {
  using Args = typename C::Args;
  return launch_stage<Args, RecurrenceParams>(
      name, kernels.file, std::move(entry), launch, recurrence_params(problem, kernels, slice),
      [](const Args& args, std::byte* workspace, RecurrenceParams& params) {
        bind_recurrence(prefill_call<C>(args), workspace, params);
      });
}
template <class C>
LaunchStage recurrence_stage(const PrefillProblem& problem, const ChunkKernels& kernels,
                             Slice slice) {
  LaunchStage stage = pass_stage<C>("recurrence", recurrence_entry(problem, kernels),
                                    recurrence_launch(problem, kernels), problem, kernels, slice);
  stage.needs = recurrence_needs(kernels);
  stage.cost = share_of(recurrence_cost(problem, kernels), problem, slice);
  return stage;
}

/// The stages of op C.
template <class C>
Plan plan_chunks(const typename C::Problem& problem, const ChunkKernels& kernels) {
  Plan out;
  if (problem.empty()) return out;
  const ChunkSizes sizes(problem);
  out.workspace_bytes = ChunkScratch(problem, kernels).bytes;
  if (problem.seqs > 0)
    out.stages.emplace_back(starts_stage<C>(problem, kernels.file, kernels.pdl));
  // A recurrence lets the preparation of the next slice begin beside it (prepare.cuh).
  const std::vector<Slice> slices =
      slices_of(chunks_of(problem.tokens), kernels.slices, kernels.growth);
  for (const Slice& slice : slices) {
    Sequence both;
    both.name = "slice" + std::to_string(out.stages.size());
    both.stages.emplace_back(prepare_stage<C>(problem, kernels, slice));
    both.stages.emplace_back(recurrence_stage<C>(problem, kernels, slice));
    out.stages.emplace_back(std::move(both));
  }
  if (!slices.empty()) return out;
  if (sizes.chunks > 0) out.stages.emplace_back(prepare_stage<C>(problem, kernels, {}));
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
  out.stages.emplace_back(recurrence_stage<C>(problem, kernels, {}));
  return out;
}

/// What the variants by wgmma have in common, and those by mma: what they serve and with what
/// tilings. Each adds its plan.
struct ChunkWgmma {
  struct Tiling {
    int resident = 3;  ///< blocks that prepare chunks on each multiprocessor
    int halves = 2;    ///< blocks of the recurrence for a value head
    int slices = 1;    ///< of a sequence, preparing one beside the recurrence over another
    int growth = 100;  ///< chunks of a slice, in percent of those of the one before

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{
          field("resident", &Tiling::resident, "preparing blocks on a multiprocessor"),
          field("halves", &Tiling::halves, "blocks of the recurrence for a value head"),
          field("slices", &Tiling::slices, "parts of a sequence that overlap"),
          field("growth", &Tiling::growth, "chunks of a part, in percent of the one before")};
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
  /// Of an op whose recurrence takes q and k as they came, which needs a block for each half.
  static std::optional<Refusal> validate_head(const PrefillProblem& problem, const Tiling& tiling,
                                              const DeviceInfo& device);
  static ChunkKernels head_kernels(const char* file, const char* name, const Tiling& tiling);

 private:
  static std::optional<Refusal> validate_common(const PrefillProblem& problem,
                                                const Tiling& tiling);
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
