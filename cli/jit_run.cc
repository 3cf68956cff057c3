// einkorn jit run: one kernel, compiled, launched, checked and timed, without a program around it.

#include <algorithm>
#include <cmath>
#include <limits>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "cli/formula.h"
#include "cli/jit_verbs.h"
#include "cli/json.h"
#include "cli/run_arguments.h"
#include "cli/status.h"
#include "cli/table.h"
#include "cli/target.h"
#include "cli/terminal.h"
#include "src/core/float.h"
#include "src/measure/sampler.h"

namespace einkorn::cli {
namespace {

constexpr int kSamples = 20;
constexpr std::size_t kShownMismatches = 5;

cuda::Dim3 parse_dim3(const std::string& what, std::string_view text,
                      const std::map<std::string, double>& numbers) {
  std::uint32_t sizes[3] = {1, 1, 1};
  std::size_t count = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::uint64_t size = whole_number(what, std::string(text.substr(0, end)), numbers);
    if (count == 3 || size > std::numeric_limits<std::uint32_t>::max()) {
      throw Exit(kBadUsage, fmt::format("{}: expected up to three sizes below 2^32", what));
    }
    sizes[count++] = static_cast<std::uint32_t>(size);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {sizes[0], sizes[1], sizes[2]};
}

cuda::Launch parse_launch(const JitRunOptions& options,
                          const std::map<std::string, double>& numbers) {
  cuda::Launch launch;
  launch.grid = parse_dim3("--grid", options.grid, numbers);
  launch.block = parse_dim3("--block", options.block, numbers);
  if (!options.cluster.empty()) launch.cluster = parse_dim3("--cluster", options.cluster, numbers);
  const std::uint64_t smem = whole_number("--smem", options.smem, numbers);
  if (smem > std::numeric_limits<std::uint32_t>::max()) {
    throw Exit(kBadUsage, fmt::format("--smem: expected bytes below 2^32, got {}", smem));
  }
  launch.smem_bytes = static_cast<std::uint32_t>(smem);
  launch.pdl = options.pdl;
  launch.cooperative = options.cooperative;
  return launch;
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
        arguments.emplace_back(tensors.back());
        bytes += tensor->view().numel() * bits(tensor->view().dtype()) / 8;
      } else if (const auto* whole = std::get_if<std::int64_t>(&argument.value)) {
        arguments.emplace_back(*whole);
      } else if (const auto* real = std::get_if<double>(&argument.value)) {
        arguments.emplace_back(*real);
      } else {
        arguments.emplace_back(std::get<bool>(argument.value));
      }
    }
  }
};

struct CheckOutcome {
  std::int64_t elements = 0, wrong = 0;
  double worst = 0;  // largest difference, relative to 1 + |right|
  std::vector<std::string> shown;
};

/// What the names of an equation stand for, element by element.
class Elements {
 public:
  Elements(const std::vector<RunArgument>& before, const std::vector<Tensor>& after,
           Equation& equation)
      : names_(equation.names()), values_(names_.size()) {
    std::size_t tensor = 0;
    for (const RunArgument& argument : before) {
      if (const Tensor* start = argument.tensor()) {
        places_[argument.name] = &after[tensor++];
        places_.try_emplace(argument.name + "0", start);
      } else if (const auto* whole = std::get_if<std::int64_t>(&argument.value)) {
        numbers_[argument.name] = static_cast<double>(*whole);
      } else if (const auto* real = std::get_if<double>(&argument.value)) {
        numbers_[argument.name] = *real;
      }
    }
    for (std::size_t i = 0; i < names_.size(); ++i) bind(equation, i);
  }

  std::int64_t count() const { return count_; }
  /// The dtype of the first tensor named; f64 when none is.
  DType dtype() const { return dtype_; }

  void load(std::int64_t index) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == "i") values_[i] = static_cast<double>(index);
      const auto found = places_.find(names_[i]);
      if (found == places_.end()) continue;
      const TensorView& view = found->second->view();
      values_[i] = load_as_double(view, view.numel() == 1 ? 0 : index);
    }
  }

 private:
  void bind(Equation& equation, std::size_t i) {
    const std::string& name = names_[i];
    if (const auto tensor = places_.find(name); tensor != places_.end()) {
      const TensorView& view = tensor->second->view();
      const std::int64_t elements = view.numel();
      if (elements != 1 && count_ != 1 && elements != count_) {
        throw Exit(
            kBadUsage,
            fmt::format("--check: expected tensors of one size, got {} of {} elements beside "
                        "{}",
                        name, elements, count_));
      }
      count_ = std::max(count_, elements);
      if (!any_tensor_) dtype_ = view.dtype();
      any_tensor_ = true;
    } else if (const auto number = numbers_.find(name); number != numbers_.end()) {
      values_[i] = number->second;
    } else if (name != "i") {
      throw Exit(kBadUsage, fmt::format("--check: unknown name \"{}\"\n  hint: names are those of "
                                        "--arg, with a 0 behind a tensor's for its content before "
                                        "the launch, and i for the index",
                                        name));
    }
    equation.bind(name, &values_[i]);
  }

  std::vector<std::string> names_;
  std::vector<double> values_;
  std::map<std::string, const Tensor*> places_;
  std::map<std::string, double> numbers_;
  std::int64_t count_ = 1;
  DType dtype_ = kF64;
  bool any_tensor_ = false;
};

/// Eight units in the last place of a number near 1: a formula of a few roundings stays below it.
double default_tolerance(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 0x1p-49;
    case DType::kF32:
      return 0x1p-20;
    case DType::kF16:
      return 0x1p-7;
    case DType::kBF16:
      return 0x1p-4;
    case DType::kF8E4M3:
      return 0x1p-0;
    case DType::kF8E5M2:
      return 0x1p+1;
    default:
      return 0;  // whole numbers are exact
  }
}

CheckOutcome check(const JitRunOptions& options, const std::vector<RunArgument>& before,
                   const std::vector<Tensor>& after) {
  Equation equation(options.check);
  Elements elements(before, after, equation);
  const double tolerance =
      options.tolerance >= 0 ? options.tolerance : default_tolerance(elements.dtype());
  CheckOutcome out;
  out.elements = elements.count();
  for (std::int64_t i = 0; i < out.elements; ++i) {
    elements.load(i);
    const Equation::Sides sides = equation.evaluate();
    const bool both_nan = std::isnan(sides.left) && std::isnan(sides.right);
    if (sides.left == sides.right || both_nan) continue;
    const double error = std::abs(sides.left - sides.right) / (1 + std::abs(sides.right));
    if (!(error <= tolerance)) {
      ++out.wrong;
      if (out.shown.size() < kShownMismatches) {
        out.shown.push_back(fmt::format("i={}: {} and {}", i, sides.left, sides.right));
      }
    }
    if (!(error <= out.worst)) out.worst = error;
  }
  return out;
}

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
  cuda::Launch launch;
  double us = 0;
  double gbps = 0;
  std::optional<CheckOutcome> check;
};

std::string text_of(const cuda::Dim3& dim) { return fmt::format("{}x{}x{}", dim.x, dim.y, dim.z); }

std::string to_text(const RunOutcome& out, const JitRunOptions& options) {
  const jit::EntryPoint& entry = out.program->entries.front();
  std::string text = fmt::format(
      "kernel   {}\ncompiled {:.0f} ms by {}: {} registers, {} B static shared memory, {} B "
      "spilled\nlaunch   grid {}, block {}, {} B dynamic shared memory\n"
      "time     {:.2f} us a launch, {:.1f} GB/s if each tensor is moved once\n",
      entry.expression, out.program->compile_ms, out.program->compiler, entry.resources.registers,
      entry.resources.static_smem, entry.resources.spill_stores + entry.resources.spill_loads,
      text_of(out.launch.grid), text_of(out.launch.block), out.launch.smem_bytes, out.us, out.gbps);
  if (!out.check) return text;
  text += fmt::format("check    {}: ", options.check);
  if (out.check->wrong == 0) {
    return text + paint("holds", Colour::kGreen) +
           fmt::format(" for {} elements, largest error {:.2g}\n", out.check->elements,
                       out.check->worst);
  }
  text += paint("fails", Colour::kRed) +
          fmt::format(" for {} of {} elements, largest error {:.2g}\n", out.check->wrong,
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
          {"arch", options.source.archs.empty() ? Json() : Json(options.source.archs.front())},
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
  const std::vector<RunArgument> arguments = parse_run_arguments(options.arguments, rng);
  const cuda::Launch launch = parse_launch(options, whole_numbers(arguments));
  if (!options.check.empty()) Equation{options.check};  // before anything takes time
  const jit::Program program =
      as_usage([&] { return jit::compile(requests_of(options.source).front()); });
  const Device device = find_device(options.device.empty() ? "cuda:0" : options.device);
  if (device.kind != DeviceKind::kCuda) {
    throw Exit(kBadUsage, "--device: expected cuda:N, got " + to_string(device));
  }
  const jit::Kernel kernel = program.kernel();
  const OnDevice on(arguments, device);
  const cuda::OwnedStream stream(device.index);
  RunOutcome out{program, launch, 0, 0, std::nullopt};
  kernel.launch_with(launch, stream.get(), on.arguments);
  stream.synchronize();
  if (!options.check.empty()) {
    std::vector<Tensor> after;
    after.reserve(on.tensors.size());
    for (const Tensor& tensor : on.tensors) after.push_back(tensor.to(kCpuDevice));
    out.check = check(options, arguments, after);
  }
  out.us = median_us(kernel, launch, on, stream);
  out.gbps = static_cast<double>(on.bytes) / (out.us * 1e3);
  options.json ? print_json(to_json(out, options)) : print(to_text(out, options));
  return out.check && out.check->wrong > 0 ? kFailed : kAllWell;
}

}  // namespace einkorn::cli
