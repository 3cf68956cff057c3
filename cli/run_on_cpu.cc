#include "cli/run_on_cpu.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "cli/run_outcome.h"
#include "src/jit/cpu_arch.h"
#include "src/jit/cpu_entry.h"
#include "src/jit/source_folder.h"
#include "src/jit/source_set.h"

namespace einkorn::cli {
namespace {

namespace fs = std::filesystem;

/// Silence about what cannot be followed would look like a result.
void refuse_what_kernels_take(const JitRunOptions& options) {
  const std::pair<const char*, bool> given[] = {
      {"--grid", options.grid.has_value()},
      {"--block", options.block.has_value()},
      {"--cluster", options.cluster.has_value()},
      {"--smem", options.smem.has_value()},
      {"--pdl", options.pdl},
      {"--cooperative", options.cooperative},
      {"--device", !options.device.empty() && options.device != "cpu"}};
  for (const auto& [option, is_given] : given) {
    if (is_given) throw Exit(kBadUsage, fmt::format("{}: expected none with --cpu", option));
  }
  if (options.source.entries.empty()) {
    throw Exit(kBadUsage, fmt::format("--entry: expected a function of {} to run, got none",
                                      options.source.file));
  }
  if (options.source.archs.size() > 1) {
    throw Exit(kBadUsage,
               fmt::format("--arch: expected one to run, got {}: {}", options.source.archs.size(),
                           fmt::join(options.source.archs, ", ")));
  }
}

/// Behind the source goes a function that knows the types of the parameters.
jit::Request request_with_entry(const JitRunOptions& options) {
  jit::Request request = requests_of(options.source).front();
  const fs::path file = request.file;
  if (const jit::EmbeddedSource* embedded = jit::find_embedded(request.file)) {
    request.source = std::string(embedded->text) + '\n';
  } else {
    request.source = fmt::format("#include \"{}\"\n", file.filename().string());
    request.include_dirs.insert(request.include_dirs.begin(),
                                fs::absolute(file).parent_path().string());
  }
  request.file = file.stem().string() + ".entry.cc";
  request.source += jit::entry_functions(request.instantiate);
  request.instantiate = jit::entry_symbol(0);
  return request;
}

/// The lines without the compiler's hint, which knows nothing of entries.
std::string without_hint(std::string text) {
  const std::size_t begin = text.find("\n  hint: ");
  if (begin == std::string::npos) return text;
  return text.erase(begin, std::min(text.find('\n', begin + 1), text.size()) - begin);
}

/// What the compiler says of the entry is of a function of ours that calls it.
jit::Program compile_entry(const jit::Request& request, const JitRunOptions& options) {
  const std::string& entry = options.source.entries.front();
  const std::string symbol = jit::entry_symbol(0);
  constexpr std::string_view kMark = ": error: ";
  try {
    return as_usage([&] { return jit::compile(request); });
  } catch (const Error& error) {
    std::string text = error.what();
    const std::size_t said = text.find(kMark);
    if (text.starts_with("jit: " + symbol + "(") && said != std::string::npos) {
      text = fmt::format(
          "--entry: expected a function of {} that returns void, got '{}': {}\n  hint: it is named "
          "with its namespace and template arguments",
          options.source.file, entry, without_hint(text.substr(said + kMark.size())));
    }
    jit::replace_all(text, symbol, entry);
    throw Error(error.kind(), text);
  }
}

}  // namespace

int run_on_cpu(const JitRunOptions& options, const std::vector<RunArgument>& arguments) {
  refuse_what_kernels_take(options);
  const std::string& name = options.source.entries.front();
  const jit::Request request = request_with_entry(options);
  const jit::Program program = compile_entry(request, options);
  const jit::CpuEntry entry(program, 0, name);
  const std::vector<Tensor> tensors = tensors_on(arguments, kCpuDevice);
  const std::vector<jit::Argument> list = arguments_with(arguments, tensors);
  of_arguments(options, [&] { entry.call(list); });
  RunOutcome out{
      .name = name,
      .arch = request.arch.empty() ? std::string(jit::cpu_arch()) : request.arch,
      .program = program,
      .equation = options.check,
  };
  if (!options.check.empty()) {
    out.check = check_elements(options.check, options.tolerance, arguments, tensors);
  }
  const auto sampler =
      measure::make_sampler(kCpuDevice, nullptr, [&](int, Stream) { entry.call(list); }, 1);
  measure_run(out, *sampler, tensors);
  return print_outcome(out, options.json);
}

}  // namespace einkorn::cli
