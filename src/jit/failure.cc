#include "src/jit/failure.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/jit/diagnostics.h"
#include "src/jit/embedded.h"
#include "src/jit/kernel_names.h"
#include "src/jit/log_file.h"
#include "src/jit/toolkit.h"

namespace einkorn::jit {
namespace {

// Static shared memory that every architecture refuses to exceed, bytes.
constexpr std::int64_t kMaxStaticSmem = 48 * 1024;

// Of a key, as `jit compile` and `cache ls` show it.
constexpr std::size_t kShownDigits = 12;

/// Some failures leave no error in the log; the one that is known is told from what else it holds.
FirstError error_in(std::string_view log) {
  if (auto error = first_error(log)) return *std::move(error);
  for (const KernelResources& kernel : parse_resources(log)) {
    if (kernel.resources.static_smem <= kMaxStaticSmem) continue;
    return {"", 0,
            fmt::format("too much shared data: {} takes {} bytes, expected at most {}",
                        kernel.lowered, kernel.resources.static_smem, kMaxStaticSmem)};
  }
  return {"", 0, "the compiler gave no reason"};
}

/// Texts in memory and embedded ones have no place on disk.
std::string_view shown(const SourceFile& file) {
  return file.path.starts_with('/') ? file.path : file.name;
}

/// What a person calls the file that a compiler names so; compilers write "./" before a name that
/// they found by `-I .`.
std::string_view shown(const CompileInputs& inputs, std::string_view reported) {
  const std::string_view name = reported.starts_with("./") ? reported.substr(2) : reported;
  const auto& files = inputs.sources.files;
  const auto at = std::find_if(files.begin(), files.end(),
                               [&](const SourceFile& file) { return file.name == name; });
  return at == files.end() ? reported : shown(*at);
}

std::string place_of(const FirstError& error, const CompileInputs& inputs) {
  const std::string_view main = shown_name(inputs);
  if (error.file.empty() || error.file == kEntryFile) return std::string(main);
  if (error.file == kAssemblerFile) {
    return error.line > 0 ? fmt::format("{}: ptxas, line {} of the PTX", main, error.line)
                          : fmt::format("{}: ptxas", main);
  }
  const std::string_view file = shown(inputs, error.file);
  return error.line > 0 ? fmt::format("{}({})", file, error.line) : std::string(file);
}

}  // namespace

std::string_view shown_name(const CompileInputs& inputs) { return shown(inputs.main()); }

std::string shown_context(const CompileInputs& inputs, std::string_view compiler) {
  const std::string entries =
      inputs.entries.empty() ? "" : fmt::format("entry: {}  ", fmt::join(inputs.entries, ", "));
  return fmt::format("\n  {}arch: {}  compiler: {}  key: {}", entries, inputs.arch, compiler,
                     inputs.content.hex().substr(0, kShownDigits));
}

Error compile_failure(const CompileInputs& inputs, std::string_view compiler,
                      std::string_view log) {
  const FirstError error = error_in(log);
  std::string message = fmt::format("jit: {}: error: {}{}", place_of(error, inputs), error.message,
                                    shown_context(inputs, compiler));
  HeaderSearch search{inputs.include_folders, {}, embedded_sources()};
  if (inputs.target == Target::kCuda) {
    for (const std::filesystem::path& folder : toolkit_include_folders()) {
      std::string text = folder.string();
      if (std::ranges::find(search.toolkits, text) == search.toolkits.end()) {
        search.toolkits.push_back(std::move(text));
      }
    }
  }
  std::string hint = hint_for(error, search);
  if (error.file == kEntryFile) {
    const std::vector<std::string> names = kernel_names(inputs.main().text);
    if (!names.empty()) {
      hint += fmt::format(": {} has {}", inputs.main().name, fmt::join(names, ", "));
    }
  }
  if (!hint.empty()) {
    message += fmt::format("\n  hint: {}", hint);
  }
  const LogFile file = write_log(inputs.main().name, log);
  message += file.path.empty() ? fmt::format("\n  full log, which could not be written ({}):\n{}",
                                             file.reason, log)
                               : fmt::format("\n  full log: {}", file.path);
  return {ErrorKind::kRuntime, std::move(message)};
}

}  // namespace einkorn::jit
