#include "cli/run_on_cpu.h"

#include "cli/run_outcome.h"
#include "src/jit/compile_entries.h"
#include "src/jit/cpu_arch.h"
#include "src/jit/cpu_entry.h"

namespace einkorn::cli {
namespace {

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

}  // namespace

int run_on_cpu(const JitRunOptions& options, const std::vector<RunArgument>& arguments) {
  refuse_what_kernels_take(options);
  const std::string& name = options.source.entries.front();
  const jit::Request request = requests_of(options.source).front();
  const jit::Program program = as_usage([&] { return jit::compile_entries(request, "--entry"); });
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
