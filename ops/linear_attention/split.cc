#include "ops/linear_attention/split.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

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
constexpr double kBusyStep = 1.1;     // of a whole run beside which chunks are prepared
// Cut only for a gain that other devices and lengths will not undo.
constexpr double kWorthwhile = 0.85;

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

/// A cut of the longest sequence into equal segments, which others are cut by, too.
struct Cut {
  std::int64_t chunks = 0;    ///< of a segment; 0: there is none
  std::int64_t segments = 0;  ///< of all sequences together
  double steps = 0;
};

/// The cuts worth a look, their segments counted in one walk over the sequences.
class Cuts {
 public:
  /// Into segments of `shortest` chunks and more.
  Cuts(const Sequences& sequences, std::int64_t longest, std::int64_t shortest) {
    for (const std::int64_t parts : kParts) {
      const std::int64_t chunks = ceil_div(longest, parts);
      if (chunks < shortest || chunks == longest) break;
      cuts_[count_++].chunks = chunks;
    }
    if (count_ == 0) return;
    for (std::int64_t i = 0; i < sequences.count(); ++i) add(chunks_of(sequences.length(i)));
  }

  std::span<Cut> all() { return std::span(cuts_).first(count_); }

 private:
  void add(std::int64_t chunks) {
    for (Cut& cut : all()) {
      // Most sequences beside a long one are shorter than its segments: a division less.
      cut.segments += chunks > cut.chunks ? ceil_div(chunks, cut.chunks) : (chunks > 0 ? 1 : 0);
    }
  }

  std::array<Cut, kParts.size()> cuts_{};
  std::size_t count_ = 0;
};

double split_steps(const Cut& cut, const Load& load, std::int64_t value_heads,
                   int multiprocessors) {
  const std::int64_t columns = kBlocksPerHead * value_heads;
  // The last segment of a sequence is in the second pass alone.
  const std::int64_t first = (cut.segments - load.sequences) * kPartialBlocksPerHead * value_heads;
  const double merge = kMergeStep * static_cast<double>(ceil_div(load.longest, cut.chunks) - 1);
  return 2 * kStart + merge +
         kPartialStep * steps(cut.chunks, first * cut.chunks, first, multiprocessors) +
         kSegmentStep *
             steps(cut.chunks, load.total * columns, cut.segments * columns, multiprocessors);
}

Cut best_cut(const Sequences& sequences, const Load& load, std::int64_t value_heads,
             int multiprocessors, std::int64_t shortest) {
  Cuts cuts(sequences, load.longest, shortest);
  Cut best;
  for (Cut& cut : cuts.all()) {
    cut.steps = split_steps(cut, load, value_heads, multiprocessors);
    if (best.chunks == 0 || cut.steps < best.steps) best = cut;
  }
  return best;
}

/// What a decision rests on.
enum class Ground : std::uint8_t { kOff, kCpu, kForced, kShort, kFull, kSteps };

/// A decision and the numbers that decided.
struct Verdict {
  Ground ground = Ground::kOff;
  std::int64_t longest = 0;  ///< of a sequence, chunks
  double whole = 0;          ///< steps
  Cut cut = {};              ///< the best that was looked at
  bool enabled = false;
};

void check_force(const DeviceInfo& device, std::string_view who) {
  if (device.device.kind != DeviceKind::kCpu) return;
  throw NotSplittable(
      fmt::format("{}: split: expected off or auto on a CPU, got force\n"
                  "  hint: heads and columns are work enough for its threads",
                  who));
}

Verdict forced(const Sequences& sequences, const Load& load, std::int64_t value_heads,
               int multiprocessors, std::string_view who) {
  const Cut cut = best_cut(sequences, load, value_heads, multiprocessors, 1);
  if (cut.chunks == 0) {
    throw NotSplittable(
        fmt::format("{}: split: expected a sequence of more than {} tokens with split force, got "
                    "at most {}\n  hint: split auto runs what cannot be cut in one piece",
                    who, kChunk, sequences.longest()));
  }
  return {.ground = Ground::kForced, .cut = cut, .enabled = true};
}

Verdict judge(const Sequences& sequences, std::int64_t value_heads, const DeviceInfo& device,
              Split mode, std::string_view who, double hidden) {
  if (mode == Split::kOff) return {.ground = Ground::kOff};
  if (mode == Split::kForce) check_force(device, who);
  if (device.device.kind == DeviceKind::kCpu) return {.ground = Ground::kCpu};
  const Load load = load_of(sequences);
  if (mode == Split::kForce) return forced(sequences, load, value_heads, device.sm_count, who);
  if (load.longest < 2 * kShortestSegment) {
    return {.ground = Ground::kShort, .longest = load.longest};
  }
  const double whole =
      whole_steps(load, value_heads, device.sm_count) * (hidden > 0 ? kBusyStep : 1);
  // Work that fills the device to the end of the longest chain leaves nothing to win.
  if (load.total * kBlocksPerHead * value_heads >= load.longest * device.sm_count) {
    return {.ground = Ground::kFull, .whole = whole};
  }
  Cut cut = best_cut(sequences, load, value_heads, device.sm_count, kShortestSegment);
  cut.steps += hidden * static_cast<double>(load.total * value_heads) / device.sm_count;
  return {.ground = Ground::kSteps,
          .whole = whole,
          .cut = cut,
          .enabled = cut.steps < kWorthwhile * whole};
}

std::string reason_of(const Verdict& verdict) {
  switch (verdict.ground) {
    case Ground::kOff:
      return "off";
    case Ground::kCpu:
      return "a CPU has threads enough for heads and columns alone";
    case Ground::kForced:
      return fmt::format("forced: segments of {} chunks", verdict.cut.chunks);
    case Ground::kShort:
      return fmt::format("the longest sequence has {} chunks, fewer than {}", verdict.longest,
                         2 * kShortestSegment);
    case Ground::kFull:
      return fmt::format("{:.0f} steps whole, which fill the device", verdict.whole);
    case Ground::kSteps:
      break;
  }
  return fmt::format("{:.0f} steps whole, {:.0f} in segments of {} chunks", verdict.whole,
                     verdict.cut.steps, verdict.cut.chunks);
}

}  // namespace

std::int64_t split_segment(const Sequences& sequences, std::int64_t value_heads,
                           const DeviceInfo& device, Split mode, std::string_view who,
                           double hidden) {
  const Verdict verdict = judge(sequences, value_heads, device, mode, who, hidden);
  return verdict.enabled ? verdict.cut.chunks * kChunk : 0;
}

Decision split_policy(const Sequences& sequences, std::int64_t value_heads,
                      const DeviceInfo& device, Split mode, std::string_view who, double hidden) {
  const Verdict verdict = judge(sequences, value_heads, device, mode, who, hidden);
  std::string reason = reason_of(verdict);
  if (!verdict.enabled) return {.reason = std::move(reason)};
  return {true, verdict.cut.chunks * kChunk, verdict.cut.segments, std::move(reason)};
}

Decision split_policy(std::span<const std::int64_t> lengths, std::int64_t value_heads,
                      const DeviceInfo& device, Split mode, std::string_view who, double hidden) {
  std::vector<std::int64_t> bounds{0};
  for (const std::int64_t length : lengths) bounds.push_back(bounds.back() + length);
  return split_policy(Sequences(std::move(bounds)), value_heads, device, mode, who, hidden);
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
