#pragma once

// Mangled names of kernels that were asked for by expressions, from a compiler that knows no name
// expressions.
//
// Behind the source goes, for each expression, a device variable that is initialised with the
// kernel's address. That makes the compiler instantiate a template, refuse what names no single
// function, and write the name that it gave to the kernel into the PTX:
//
//     .global .align 8 .u64 einkorn_entry_0 = _Z1kIfLi4EEvPT_;
//
// The variables are taken out again before the PTX is assembled, so the cubin has no trace of them.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace einkorn::jit {

/// What goes behind the source. Errors in it are reported for the file kEntryFile.
std::string entry_table(std::span<const std::string> entries);

struct PtxEntries {
  std::string ptx;                   ///< without the variables
  std::vector<std::string> lowered;  ///< one for each entry, in order
  /// Set when an entry is not a kernel, in the form of a compiler's message.
  std::optional<std::string> error;
};
PtxEntries take_entry_table(std::string_view ptx, std::span<const std::string> entries);

/// Replaces what depends on the folder of the source: its path in line tables, by "/einkorn", and
/// the hash in the names of things with internal linkage, by the zeros that NVRTC has there.
std::string without_place(std::string ptx, std::string_view folder);

}  // namespace einkorn::jit
