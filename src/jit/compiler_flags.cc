#include "src/jit/compiler_flags.h"

#include <algorithm>
#include <system_error>

#include "src/jit/toolkit.h"

namespace einkorn::jit {

bool names_standard(const std::vector<std::string>& options) {
  return std::any_of(options.begin(), options.end(), [](const std::string& option) {
    return option.starts_with("-std") || option.starts_with("--std");
  });
}

void add_include_flags(std::vector<std::string>& argv, SourceFolder& sources,
                       const CompileInputs& inputs) {
  argv.emplace_back("-I.");
  for (const auto* folders : {&inputs.include_folders, &inputs.sources.computed_in}) {
    for (const std::string& folder : *folders) {
      argv.push_back("-I" + sources.include_folder(folder));
    }
  }
}

std::vector<std::filesystem::path> toolkit_real_folders() {
  std::vector<std::filesystem::path> out;
  for (const std::filesystem::path& folder : toolkit_include_folders()) {
    std::error_code error;
    std::filesystem::path real = std::filesystem::canonical(folder, error);
    if (!error) out.push_back(std::move(real));
  }
  return out;
}

}  // namespace einkorn::jit
