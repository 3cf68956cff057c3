#pragma once

// Whether a call's sequences are cut into segments that run side by side. A segment gives S_out =
// M S_in + S_ext; a merge then carries the states through, so that the result is that of one run.
// Worth its second pass over the state only where whole sequences would leave a GPU mostly idle.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/device.h>
#include <einkorn/error.h>
#include <einkorn/fields.h>

#include "ops/linear_attention/sequences.h"

namespace einkorn {
namespace linear_attention {

/// Tokens of a chunk; segments are made of whole ones.
inline constexpr std::int64_t kChunk = 64;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Chunks that so many tokens of a sequence take.
constexpr std::int64_t chunks_of(std::int64_t tokens) { return ceil_div(tokens, kChunk); }

enum class Split : std::uint8_t {
  kOff,    ///< never
  kAuto,   ///< where it pays
  kForce,  ///< or NotSplittable
};

/// A part of a sequence; segments of a sequence but the last are of one length.
struct Segment {
  std::int64_t sequence;
  std::int64_t begin;  ///< token within the sequence
  std::int64_t tokens;

  bool operator==(const Segment&) const = default;
};

struct Decision {
  bool enabled = false;
  std::int64_t segment = 0;   ///< tokens, a multiple of kChunk; 0 unless enabled
  std::int64_t segments = 0;  ///< of all sequences together; a whole sequence is one, an empty none
  std::string reason;         ///< why, with the numbers that decided
};

/// No sequence of a call can be cut, and the caller asked for nothing else. A ValueError.
class NotSplittable : public Error {
 public:
  explicit NotSplittable(std::string message) : Error(ErrorKind::kValue, std::move(message)) {}
};

/// What `hidden` is where whole sequences are gone through in slices (chunk_plan.h).
inline constexpr double kHiddenPreparation = 3.4;

/// The decision for sequences of these lengths. Depends on nothing but its arguments, none of which
/// need be here. `hidden`: what preparing a chunk for a value head takes of a multiprocessor, in
/// steps of the recurrence, where a whole run has that beside its steps; a cut one has it before
/// them. NotSplittable: mode is force, and no sequence has two chunks or the device is a CPU; `who`
/// begins its message.
Decision split_policy(std::span<const std::int64_t> lengths, std::int64_t value_heads,
                      const DeviceInfo& device, Split mode, std::string_view who = "split_policy",
                      double hidden = 0);
Decision split_policy(const Sequences& sequences, std::int64_t value_heads,
                      const DeviceInfo& device, Split mode, std::string_view who = "split_policy",
                      double hidden = 0);

/// The segment of that decision, tokens, without its reason: nothing is formatted or allocated
/// unless it throws. On the path of every call.
std::int64_t split_segment(const Sequences& sequences, std::int64_t value_heads,
                           const DeviceInfo& device, Split mode,
                           std::string_view who = "split_policy", double hidden = 0);

/// All sequences cut after every `segment` tokens, in order; an empty sequence has no segment.
std::vector<Segment> segments_of(const Sequences& sequences, std::int64_t segment);

}  // namespace linear_attention

template <>
struct EnumNames<linear_attention::Split> {
  static constexpr std::array<std::string_view, 3> kNames{"off", "auto", "force"};
};

}  // namespace einkorn
