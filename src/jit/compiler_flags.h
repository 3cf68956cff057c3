#pragma once

// What the compilers that run nvcc or a host compiler share of its command line.

#include <filesystem>
#include <string>
#include <vector>

#include "src/jit/inputs.h"
#include "src/jit/source_folder.h"

namespace einkorn::jit {

/// True when an option chooses the language standard, so that ours is left out.
bool names_standard(const std::vector<std::string>& options);

/// `-I.` for the sources, then the folders of the request, then those where a macro may name a
/// file.
void add_include_flags(std::vector<std::string>& argv, SourceFolder& sources,
                       const CompileInputs& inputs);

/// Real paths of the toolkits' header folders. Their headers were read for the key; the compiler
/// takes its own, so that two toolkits are never mixed in one compilation.
std::vector<std::filesystem::path> toolkit_real_folders();

}  // namespace einkorn::jit
