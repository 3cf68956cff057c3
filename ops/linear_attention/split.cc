#include "ops/linear_attention/split.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace einkorn::linear_attention {
namespace {

// Blocks for a value head of a sequence or segment: halves of V, and in the first pass over
// segments also of what they make of the identity.
constexpr std::int64_t kBlocksPerHead = 2;
constexpr std::int64_t kPartialBlocksPerHead = 4;
// Chunks: below this a segment's start-up is no longer small beside its steps.
constexpr std::int64_t kShortestSegment = 8;
// Parts that the longest sequence is cut into, at most. The merge goes through them one by one.
constexpr std::array<std::int64_t, 11> kParts{2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

// Times, in steps of a whole run: one chunk, 1.45 us on an H200
// (docs/devlog/20261128-linear_attention.md).
constexpr double kStart = 13;         // a pass: its launch, first loads, states read and written
constexpr double kPartialStep = 1.1;  // of the first pass
constexpr double kSegmentStep = 1.1;  // of the pass that gives the result
constexpr double kMergeStep = 4.5;    // a segment's state carried on
// Cut only for a gain that other devices and lengths will not undo.
constexpr double kWorthwhile = 0.85;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t chunks_of(std::int64_t tokens) { return ceil_div(tokens, kChunk); }

/// Of all sequences, chunks.
struct Load {
  std::int64_t sequences = 0;  // that are not empty
  std::int64_t total = 0;
  std::int64_t longest = 0;
};

Load load_of(const Sequences& sequences) {
  Load load;
  for (std::int64_t i = 0; i < sequences.count(); ++i) {
    const std::int64_t chunks = chunks_of(sequences.length(i));
    load.total += chunks;
    if (chunks > 0) ++load.sequences;
    load.longest = std::max(load.longest, chunks);
  }
  return load;
}

/// Steps from the first to the last block's end: the longest chain where all blocks run at once,
/// else the work of each multiprocessor and, since blocks end apart, half a chain more.
double steps(std::int64_t chain, std::int64_t work, std::int64_t blocks, int multiprocessors) {
  const auto alone = static_cast<double>(chain);
  if (blocks <= multiprocessors) return alone;
  return std::max(alone, static_cast<double>(work) / multiprocessors + alone / 2);
}

double whole_steps(const Load& load, std::int64_t value_heads, int multiprocessors) {
  const std::int64_t columns = kBlocksPerHead * value_heads;
  return kStart +
         steps(load.longest, load.total * columns, load.sequences * columns, multiprocessors);
}

/// Segments of so many chunks, of all sequences together.
std::int64_t segments_for(const Sequences& sequences, std::int64_t chunks) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < sequences.count(); ++i) {
    count += ceil_div(sequences.length(i), chunks * kChunk);
  }
  return count;
}

double split_steps(const Sequences& sequences, const Load& load, std::int64_t chunks,
                   std::int64_t value_heads, int multiprocessors) {
  const std::int64_t segments = segments_for(sequences, chunks);
  const std::int64_t columns = kBlocksPerHead * value_heads;
  // The last segment of a sequence is in the second pass alone.
  const std::int64_t first = (segments - load.sequences) * kPartialBlocksPerHead * value_heads;
  const double merge = kMergeStep * static_cast<double>(ceil_div(load.longest, chunks) - 1);
  return 2 * kStart + merge + kPartialStep * steps(chunks, first * chunks, first, multiprocessors) +
         kSegmentStep * steps(chunks, load.total * columns, segments * columns, multiprocessors);
}

/// The best cut of the longest sequence into equal segments, which others are cut by, too.
struct Cut {
  std::int64_t chunks = 0;  ///< of a segment; 0: there is none
  double steps = 0;
};

Cut best_cut(const Sequences& sequences, const Load& load, std::int64_t value_heads,
             int multiprocessors, std::int64_t shortest) {
  Cut best;
  for (const std::int64_t parts : kParts) {
    const std::int64_t chunks = ceil_div(load.longest, parts);
    if (chunks < shortest || chunks == load.longest) break;
    const double needed = split_steps(sequences, load, chunks, value_heads, multiprocessors);
    if (best.chunks == 0 || needed < best.steps) best = {chunks, needed};
  }
  return best;
}

Decision enabled(const Sequences& sequences, std::int64_t chunks, std::string reason) {
  return {true, chunks * kChunk, segments_for(sequences, chunks), std::move(reason)};
}

Decision forced(const Sequences& sequences, const Load& load, std::int64_t value_heads,
                int multiprocessors, std::string_view who) {
  const Cut cut = best_cut(sequences, load, value_heads, multiprocessors, 1);
  if (cut.chunks == 0) {
    throw NotSplittable(
        fmt::format("{}: split: expected a sequence of more than {} tokens with split force, got "
                    "at most {}\n  hint: split auto runs what cannot be cut in one piece",
                    who, kChunk, sequences.longest()));
  }
  return enabled(sequences, cut.chunks, fmt::format("forced: segments of {} chunks", cut.chunks));
}

}  // namespace

Decision split_policy(const Sequences& sequences, std::int64_t value_heads,
                      const DeviceInfo& device, Split mode, std::string_view who) {
  if (mode == Split::kOff) return {.reason = "off"};
  if (device.device.kind == DeviceKind::kCpu) {
    if (mode == Split::kForce) {
      throw NotSplittable(
          fmt::format("{}: split: expected off or auto on a CPU, got force\n"
                      "  hint: heads and columns are work enough for its threads",
                      who));
    }
    return {.reason = "a CPU has threads enough for heads and columns alone"};
  }
  const Load load = load_of(sequences);
  if (mode == Split::kForce) return forced(sequences, load, value_heads, device.sm_count, who);
  if (load.longest < 2 * kShortestSegment) {
    return {.reason = fmt::format("the longest sequence has {} chunks, fewer than {}", load.longest,
                                  2 * kShortestSegment)};
  }
  const double whole = whole_steps(load, value_heads, device.sm_count);
  // Work that fills the device to the end of the longest chain leaves nothing to win.
  if (load.total * kBlocksPerHead * value_heads >= load.longest * device.sm_count) {
    return {.reason = fmt::format("{:.0f} steps whole, which fill the device", whole)};
  }
  const Cut cut = best_cut(sequences, load, value_heads, device.sm_count, kShortestSegment);
  std::string numbers = fmt::format("{:.0f} steps whole, {:.0f} in segments of {} chunks", whole,
                                    cut.steps, cut.chunks);
  if (cut.steps >= kWorthwhile * whole) return {.reason = std::move(numbers)};
  return enabled(sequences, cut.chunks, std::move(numbers));
}

Decision split_policy(std::span<const std::int64_t> lengths, std::int64_t value_heads,
                      const DeviceInfo& device, Split mode, std::string_view who) {
  std::vector<std::int64_t> bounds{0};
  for (const std::int64_t length : lengths) bounds.push_back(bounds.back() + length);
  return split_policy(Sequences(std::move(bounds)), value_heads, device, mode, who);
}

std::vector<Segment> segments_of(const Sequences& sequences, std::int64_t segment) {
  EK_ICHECK(segment > 0 && segment % kChunk == 0, "segments are of whole chunks");
  std::vector<Segment> out;
  for (std::int64_t i = 0; i < sequences.count(); ++i) {
    const std::int64_t length = sequences.length(i);
    for (std::int64_t begin = 0; begin < length; begin += segment) {
      out.push_back({i, begin, std::min(segment, length - begin)});
    }
  }
  return out;
}

}  // namespace einkorn::linear_attention
