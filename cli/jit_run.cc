// einkorn jit run: one kernel, compiled, launched, checked and timed, without a program around it.

#include <algorithm>
#include <limits>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/formula.h"
#include "cli/jit_verbs.h"
#include "cli/json.h"
#include "cli/run_arguments.h"
#include "cli/run_check.h"
#include "cli/status.h"
#include "cli/target.h"
#include "cli/terminal.h"
#include "src/cuda/launch_limits.h"
#include "src/jit/arch_name.h"
#include "src/jit/kernel_facts.h"
#include "src/jit/typed_arguments.h"
#include "src/measure/sampler.h"

namespace einkorn::cli {
namespace {

constexpr int kSamples = 20;

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
  launch.grid = parse_dim3("--grid", options.grid, names);
  launch.block = parse_dim3("--block", options.block, names);
  if (!options.cluster.empty()) launch.cluster = parse_dim3("--cluster", options.cluster, names);
  const std::uint64_t smem = whole_number("--smem", options.smem, names);
  if (smem > std::numeric_limits<std::uint32_t>::max()) {
    throw Exit(kBadUsage, fmt::format("--smem: expected bytes below 2^32, got {}", smem));
  }
  launch.smem_bytes = static_cast<std::uint32_t>(smem);
  launch.pdl = options.pdl;
  launch.cooperative = options.cooperative;
  return launch;
}

jit::Argument to_argument(const RunArgument& argument, const Tensor* tensor) {
  if (tensor != nullptr) return *tensor;
  if (const auto* whole = std::get_if<std::int64_t>(&argument.value)) return *whole;
  if (const auto* real = std::get_if<double>(&argument.value)) return *real;
  return std::get<bool>(argument.value);
}

Device parse_gpu(const JitRunOptions& options) {
  const std::string name = options.device.empty() ? "cuda:0" : options.device;
  const Device device = as_usage([&] { return parse_device(name); });
  if (device.kind != DeviceKind::kCuda) {
    throw Exit(kBadUsage,
               fmt::format("--device: expected cuda:N, got '{}'\n  hint: only kernels of "
                           "the GPU can be run from the command line",
                           name));
  }
  return device;
}

/// The one request. Bad usage: several kernels or archs, a geometry that no device takes.
jit::Request only_request(const JitRunOptions& options, const cuda::Launch& launch, int device) {
  const SourceOptions& source = options.source;
  if (source.cpu) {
    throw Exit(
        kBadUsage,
        "--cpu: expected a kernel of the GPU to run\n  hint: jit compile --cpu compiles host "
        "code; jit::Program::function and einkorn.jit.load call it");
  }
  if (source.entries.size() > 1) {
    throw Exit(kBadUsage, fmt::format("--entry: expected one kernel to run, got {}: {}",
                                      source.entries.size(), fmt::join(source.entries, ", ")));
  }
  if (source.archs.size() > 1) {
    throw Exit(kBadUsage, fmt::format("--arch: expected that of the device, got {}: {}",
                                      source.archs.size(), fmt::join(source.archs, ", ")));
  }
  jit::Request request = requests_of(source, device).front();
  as_usage([&] { cuda::check_geometry(*request.instantiate.begin(), launch); });
  // Thread block clusters came with compute capability 9.0.
  if (launch.cluster.count() > 1 && jit::sm_number(request.arch) < 90) {
    throw Exit(kBadUsage, fmt::format("--cluster: expected none before sm_90, got \"{}\" for {}",
                                      options.cluster, request.arch));
  }
  return request;
}

/// Number, dtypes and values of the arguments against what the kernel takes.
void check_arguments(const JitRunOptions& options, const jit::Program& program,
                     const std::vector<RunArgument>& arguments) {
  const jit::EntryPoint& entry = program->entries.front();
  const auto facts = jit::kernel_facts(program.artifact(), entry.lowered);
  std::vector<jit::Argument> list;
  list.reserve(arguments.size());
  for (const RunArgument& one : arguments) list.push_back(to_argument(one, one.tensor()));
  try {
    const jit::BoundArguments bound(entry.expression, list,
                                    facts->signature ? &*facts->signature : nullptr, facts->layout,
                                    kCpuDevice);
  } catch (const Error& error) {
    throw Exit(kBadUsage, fmt::format("{}\n  --arg, in order: {}", error.what(),
                                      fmt::join(options.arguments, "  ")));
  }
}

std::string resources_text(const jit::EntryPoint& entry) {
  return fmt::format("{} registers, {} B static shared memory, {} B spilled",
                     entry.resources.registers, entry.resources.static_smem,
                     entry.resources.spill_stores + entry.resources.spill_loads);
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

/// The arguments on the device, and each tensor as it was before the launch.
struct OnDevice {
  std::vector<Tensor> tensors;  // keep the memory
  std::vector<jit::Argument> arguments;
  std::int64_t bytes = 0;  // of all tensors

  OnDevice(const std::vector<RunArgument>& from, Device device) {
    tensors.reserve(from.size());
    for (const RunArgument& argument : from) {
      if (const Tensor* tensor = argument.tensor()) {
        tensors.push_back(tensor->to(device));
        bytes += tensor->view().numel() * bits(tensor->view().dtype()) / 8;
      }
      arguments.push_back(
          to_argument(argument, argument.tensor() != nullptr ? &tensors.back() : nullptr));
    }
  }
};

double median_us(const jit::Kernel& kernel, const cuda::Launch& launch, const OnDevice& on,
                 const cuda::OwnedStream& stream) {
  const auto sampler = measure::make_sampler(
      stream.get().device, &stream,
      [&](int, Stream to) { kernel.launch_with(launch, to, on.arguments); }, 1);
  std::vector<double> samples;
  samples.reserve(kSamples);
  for (int i = 0; i < kSamples; ++i) samples.push_back(sampler->sample());
  std::ranges::nth_element(samples, samples.begin() + kSamples / 2);
  return samples[kSamples / 2];
}

struct RunOutcome {
  const jit::Program& program;
  std::string arch;
  cuda::Launch launch;
  double us = 0;
  double gbps = 0;
  std::optional<CheckOutcome> check;
};

std::string text_of(const cuda::Dim3& dim) { return fmt::format("{}x{}x{}", dim.x, dim.y, dim.z); }

std::string to_text(const RunOutcome& out, const JitRunOptions& options) {
  const jit::EntryPoint& entry = out.program->entries.front();
  std::string text = fmt::format(
      "kernel   {}\ncompiled {:.0f} ms by {}: {}\n"
      "launch   grid {}, block {}, {} B dynamic shared memory\n"
      "time     {:.2f} us a launch, {:.1f} GB/s if each tensor is moved once\n",
      entry.expression, out.program->compile_ms, out.program->compiler, resources_text(entry),
      text_of(out.launch.grid), text_of(out.launch.block), out.launch.smem_bytes, out.us, out.gbps);
  if (!out.check) return text;
  text += fmt::format("check    {}: ", options.check);
  if (out.check->wrong == 0) {
    return text + paint("holds", Colour::kGreen) +
           fmt::format(" for {} elements, largest difference {:.2g}\n", out.check->elements,
                       out.check->worst);
  }
  text += paint("fails", Colour::kRed) +
          fmt::format(" for {} of {} elements, largest difference {:.2g}\n", out.check->wrong,
                      out.check->elements, out.check->worst);
  for (const std::string& line : out.check->shown) text += "  " + line + '\n';
  return text;
}

Json to_json(const RunOutcome& out, const JitRunOptions& options) {
  const jit::EntryPoint& entry = out.program->entries.front();
  Json check;
  if (out.check) {
    check = {{"equation", options.check},
             {"elements", out.check->elements},
             {"wrong", out.check->wrong},
             {"worst", out.check->worst},
             {"mismatches", out.check->shown}};
  }
  return {{"kernel", entry.expression},
          {"arch", out.arch},
          {"compiler", out.program->compiler},
          {"compile_ms", out.program->compile_ms},
          {"registers", entry.resources.registers},
          {"static_smem", entry.resources.static_smem},
          {"spills", entry.resources.spill_stores + entry.resources.spill_loads},
          {"grid", text_of(out.launch.grid)},
          {"block", text_of(out.launch.block)},
          {"median_us", out.us},
          {"gbps", out.gbps},
          {"check", std::move(check)}};
}

}  // namespace

int jit_run(const JitRunOptions& options) {
  Rng rng(options.seed);
  const Device wanted = parse_gpu(options);
  const std::vector<RunArgument> arguments = parse_run_arguments(options.arguments, rng);
  const cuda::Launch launch = parse_launch(options, formula_names(arguments));
  if (!options.check.empty()) check_equation(options.check, arguments);
  const jit::Request request = only_request(options, launch, wanted.index);
  const jit::Program program = as_usage([&] { return jit::compile(request); });
  check_arguments(options, program, arguments);
  const Device device = find_gpu(wanted, program, request.arch);
  const jit::Kernel kernel = program.kernel();
  const OnDevice on(arguments, device);
  const cuda::OwnedStream stream(device.index);
  RunOutcome out{program, request.arch, launch, 0, 0, std::nullopt};
  kernel.launch_with(launch, stream.get(), on.arguments);
  stream.synchronize();
  if (!options.check.empty()) {
    std::vector<Tensor> after;
    after.reserve(on.tensors.size());
    for (const Tensor& tensor : on.tensors) after.push_back(tensor.to(kCpuDevice));
    out.check = check_elements(options.check, options.tolerance, arguments, after);
  }
  out.us = median_us(kernel, launch, on, stream);
  out.gbps = static_cast<double>(on.bytes) / (out.us * 1e3);
  options.json ? print_json(to_json(out, options)) : print(to_text(out, options));
  return out.check && out.check->wrong > 0 ? kFailed : kAllWell;
}

}  // namespace einkorn::cli
