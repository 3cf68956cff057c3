// einkorn jit run: one kernel, compiled, launched, checked and timed, without a program around it.

#include <limits>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/formula.h"
#include "cli/jit_verbs.h"
#include "cli/run_arguments.h"
#include "cli/run_check.h"
#include "cli/run_on_cpu.h"
#include "cli/run_outcome.h"
#include "cli/status.h"
#include "cli/target.h"
#include "src/cuda/launch_limits.h"
#include "src/jit/arch_name.h"
#include "src/jit/kernel_facts.h"
#include "src/jit/typed_arguments.h"
#include "src/measure/sampler.h"

namespace einkorn::cli {
namespace {

cuda::Dim3 parse_dim3(const std::string& what, const std::string& text, const FormulaNames& names) {
  std::uint32_t sizes[3] = {1, 1, 1};
  const std::vector<std::string> formulas = split_formulas(text);
  if (formulas.size() > std::size(sizes)) {
    throw Exit(kBadUsage, fmt::format("{}: expected up to three sizes, got {} in \"{}\"", what,
                                      formulas.size(), text));
  }
  for (std::size_t i = 0; i < formulas.size(); ++i) {
    const std::uint64_t size = whole_number(what, formulas[i], names);
    if (size > std::numeric_limits<std::uint32_t>::max()) {
      throw Exit(kBadUsage, fmt::format("{}: expected sizes below 2^32, got {}, in \"{}\"", what,
                                        size, formulas[i]));
    }
    sizes[i] = static_cast<std::uint32_t>(size);
  }
  return {sizes[0], sizes[1], sizes[2]};
}

cuda::Launch parse_launch(const JitRunOptions& options, const FormulaNames& names) {
  cuda::Launch launch;
  launch.grid = parse_dim3("--grid", options.grid.value_or("1"), names);
  launch.block = parse_dim3("--block", options.block.value_or("256"), names);
  launch.cluster = parse_dim3("--cluster", options.cluster.value_or("1"), names);
  const std::uint64_t smem = whole_number("--smem", options.smem.value_or("0"), names);
  if (smem > std::numeric_limits<std::uint32_t>::max()) {
    throw Exit(kBadUsage, fmt::format("--smem: expected bytes below 2^32, got {}", smem));
  }
  launch.smem_bytes = static_cast<std::uint32_t>(smem);
  launch.pdl = options.pdl;
  launch.cooperative = options.cooperative;
  return launch;
}

Device parse_gpu(const JitRunOptions& options) {
  const std::string name = options.device.empty() ? "cuda:0" : options.device;
  const Device device = as_usage([&] { return parse_device(name); });
  if (device.kind != DeviceKind::kCuda) {
    throw Exit(kBadUsage, fmt::format("--device: expected cuda:N for a kernel, got '{}'\n"
                                      "  hint: --cpu runs a C++ function",
                                      name));
  }
  return device;
}

/// The one request. Bad usage: several archs, a geometry that no device takes.
jit::Request only_request(const JitRunOptions& options, const cuda::Launch& launch, int device) {
  const SourceOptions& source = options.source;
  if (source.archs.size() > 1) {
    throw Exit(kBadUsage, fmt::format("--arch: expected that of the device, got {}: {}",
                                      source.archs.size(), fmt::join(source.archs, ", ")));
  }
  jit::Request request = requests_of(source, device).front();
  as_usage([&] { cuda::check_geometry(*request.instantiate.begin(), launch); });
  // Thread block clusters came with compute capability 9.0.
  if (launch.cluster.count() > 1 && jit::sm_number(request.arch) < 90) {
    throw Exit(kBadUsage, fmt::format("--cluster: expected none before sm_90, got \"{}\" for {}",
                                      options.cluster.value_or(""), request.arch));
  }
  return request;
}

/// Number, dtypes and values of the arguments against what the kernel takes.
void check_arguments(const JitRunOptions& options, const jit::Program& program,
                     const std::vector<RunArgument>& arguments) {
  const jit::EntryPoint& entry = program->entries.front();
  const auto facts = jit::kernel_facts(program.artifact(), entry.lowered);
  const std::vector<jit::Argument> list =
      arguments_with(arguments, tensors_on(arguments, kCpuDevice));
  of_arguments(options, [&] {
    const jit::BoundArguments bound(entry.expression, list,
                                    facts->signature ? &*facts->signature : nullptr, facts->layout,
                                    kCpuDevice);
  });
}

/// Of a device that is not here it says what could be done without one.
Device find_gpu(const Device& wanted, const jit::Program& program, const std::string& arch) {
  try {
    return find_device(to_string(wanted));
  } catch (const Exit& exit) {
    const jit::EntryPoint& entry = program->entries.front();
    throw Exit(
        exit.status(),
        fmt::format("{} compiled for {} ({}) and takes these arguments, but cannot be run: {}",
                    entry.expression, arch, resources_text(entry), exit.what()));
  }
}

int run_kernel(const JitRunOptions& options, const std::vector<RunArgument>& arguments) {
  const Device wanted = parse_gpu(options);
  const cuda::Launch launch = parse_launch(options, formula_names(arguments));
  const jit::Request request = only_request(options, launch, wanted.index);
  const jit::Program program = as_usage([&] { return jit::compile(request); });
  check_arguments(options, program, arguments);
  const Device device = find_gpu(wanted, program, request.arch);
  const jit::Kernel kernel = program.kernel();
  const std::vector<Tensor> tensors = tensors_on(arguments, device);
  const std::vector<jit::Argument> list = arguments_with(arguments, tensors);
  const cuda::OwnedStream stream(device.index);
  kernel.launch_with(launch, stream.get(), list);
  stream.synchronize();
  RunOutcome out{.name = program->entries.front().expression,
                 .arch = request.arch,
                 .program = program,
                 .launch = launch,
                 .equation = options.check};
  if (!options.check.empty()) {
    std::vector<Tensor> after;
    after.reserve(tensors.size());
    for (const Tensor& tensor : tensors) after.push_back(tensor.to(kCpuDevice));
    out.check = check_elements(options.check, options.tolerance, arguments, after);
  }
  const auto sampler = measure::make_sampler(
      device, &stream, [&](int, Stream to) { kernel.launch_with(launch, to, list); }, 1);
  measure_run(out, *sampler, tensors);
  return print_outcome(out, options.json);
}

}  // namespace

int jit_run(const JitRunOptions& options) {
  if (options.source.entries.size() > 1) {
    throw Exit(kBadUsage,
               fmt::format("--entry: expected one to run, got {}: {}",
                           options.source.entries.size(), fmt::join(options.source.entries, ", ")));
  }
  Rng rng(options.seed);
  const std::vector<RunArgument> arguments = parse_run_arguments(options.arguments, rng);
  if (!options.check.empty()) check_equation(options.check, arguments);
  return options.source.cpu ? run_on_cpu(options, arguments) : run_kernel(options, arguments);
}

}  // namespace einkorn::cli
