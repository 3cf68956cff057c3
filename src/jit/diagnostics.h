#pragma once

// What a compiler's log says, as data. Pure functions of text.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/jit.h>

#include "src/jit/embedded.h"

namespace einkorn::jit {

struct FirstError {
  std::string file;     ///< empty when the log names none, as for options
  int line = 0;         ///< from 1; 0 when the log names none
  std::string message;  ///< without "error:" and without the file
};

/// The file that NVRTC gives for errors in name expressions, that is, in the entries asked for.
inline constexpr std::string_view kEntryFile = "__nv_name_map";
/// The file of errors that the assembler reports; their lines count in the PTX.
inline constexpr std::string_view kAssemblerFile = "ptxas";

/// The first error of a log of NVRTC, nvcc, GCC or Clang: of a front end, of ptxas, of the linker,
/// or of an option parser. Nothing when the log holds none.
std::optional<FirstError> first_error(std::string_view log);

/// Where the headers of a source were looked for, beside the file that includes them.
struct HeaderSearch {
  std::vector<std::string> folders = {};   ///< Request::include_dirs
  std::vector<std::string> toolkits = {};  ///< folders of the CUDA toolkit's headers
  std::span<const EmbeddedSource> embedded = {};
};

/// What to do about it, or empty when nothing better than the error itself is known. Of a header
/// that is not found: every place searched, and the embedded ones of its file name.
std::string hint_for(const FirstError& error, const HeaderSearch& search);

struct KernelResources {
  std::string lowered;
  Resources resources;
};

/// What ptxas -v reported, one for each entry function, in the log's order.
std::vector<KernelResources> parse_resources(std::string_view log);

/// Entry points of these expressions and lowered names, with what the log says that each takes.
std::vector<EntryPoint> entry_points(std::span<const std::string> expressions,
                                     std::span<const std::string> lowered, std::string_view log);

}  // namespace einkorn::jit
