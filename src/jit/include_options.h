#pragma once

// Compiler options by which a compilation reads files that its key would not know.

#include <string>
#include <vector>

namespace einkorn::jit {

/// Takes the folders of headers out of the options, in order: -I, --include-path and -isystem, with
/// the folder in the same word or in the next.
std::vector<std::string> take_include_folders(std::vector<std::string>& options);

/// The first option that names a file to read, such as -include or --options-file; empty: none.
std::string option_that_reads(const std::vector<std::string>& options);

/// ", NAME value" for each variable that is set and decides where a compiler that runs as a process
/// searches, or adds to its options: part of its identity.
std::string search_variables();

}  // namespace einkorn::jit
