#pragma once

// The memory behind a case: moved, guarded, poisoned and compared byte by byte.

#include <cstddef>
#include <cstdint>
#include <string>

#include <einkorn/op.h>

namespace einkorn::measure {

/// Bytes before and after each allocation of a guarded case. A multiple of the alignment that
/// tensors have, so that guarding changes no alignment.
inline constexpr std::size_t kGuardBytes = 256;

/// A copy on the CPU whose allocations have guard bytes at both ends. `data` is on the CPU.
CaseData with_guards(const OpDef& op, const CaseData& data);

/// Sets all bytes of the elements of outputs; gaps, tensors that are read and written in place, and
/// outputs that share memory with what is read keep theirs. On the CPU.
void poison_outputs(const OpDef& op, const CaseData& data, std::uint8_t value);

/// Copies the elements of what a call writes between two clones of one case, gaps left alone. On
/// the CPU.
void copy_outputs(const OpDef& op, const CaseData& source, const CaseData& destination);

/// The first element that a call writes whose bits differ between two clones of one case,
/// "y[3, 17]"; empty when none does. On the CPU.
std::string find_output_difference(const OpDef& op, const CaseData& first, const CaseData& second);

/// "[3, 17]" for the row-major index of an element.
std::string element_name(const TensorView& view, std::int64_t index);

/// Where the memory of two clones of a guarded case differs, in words; empty when it does not.
std::string find_difference(const OpDef& op, const CaseData& before, const CaseData& after);

}  // namespace einkorn::measure
