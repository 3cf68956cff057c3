#include "cli/run_outcome.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/json.h"
#include "cli/status.h"
#include "cli/terminal.h"

namespace einkorn::cli {
namespace {

constexpr int kSamples = 20;

std::string text_of(const cuda::Dim3& dim) { return fmt::format("{}x{}x{}", dim.x, dim.y, dim.z); }

std::string check_text(const std::string& equation, const CheckOutcome& check) {
  std::string text = fmt::format("check    {}: ", equation);
  if (check.wrong == 0) {
    return text + paint("holds", Colour::kGreen) +
           fmt::format(" for {} elements, largest difference {:.2g}\n", check.elements,
                       check.worst);
  }
  text += paint("fails", Colour::kRed) +
          fmt::format(" for {} of {} elements, largest difference {:.2g}\n", check.wrong,
                      check.elements, check.worst);
  for (const std::string& line : check.shown) text += "  " + line + '\n';
  return text;
}

std::string to_text(const RunOutcome& out) {
  std::string text = fmt::format("kernel   {}\ncompiled {:.0f} ms by {}", out.name,
                                 out.program->compile_ms, out.program->compiler);
  if (out.launch) {
    text += fmt::format(": {}\nlaunch   grid {}, block {}, {} B dynamic shared memory",
                        resources_text(out.program->entries.front()), text_of(out.launch->grid),
                        text_of(out.launch->block), out.launch->smem_bytes);
  }
  text += fmt::format("\ntime     {:.2f} us a {}, {:.1f} GB/s if each tensor is moved once\n",
                      out.us, out.launch ? "launch" : "call", out.gbps);
  return out.check ? text + check_text(out.equation, *out.check) : text;
}

Json to_json(const RunOutcome& out) {
  const jit::Resources resources =
      out.launch ? out.program->entries.front().resources : jit::Resources{};
  const auto of_kernels = [&](Json value) { return out.launch ? std::move(value) : Json(); };
  Json check;
  if (out.check) {
    check = {{"equation", out.equation},
             {"elements", out.check->elements},
             {"wrong", out.check->wrong},
             {"worst", out.check->worst},
             {"mismatches", out.check->shown}};
  }
  return {{"kernel", out.name},
          {"arch", out.arch},
          {"compiler", out.program->compiler},
          {"compile_ms", out.program->compile_ms},
          {"registers", of_kernels(resources.registers)},
          {"static_smem", of_kernels(resources.static_smem)},
          {"spills", of_kernels(resources.spill_stores + resources.spill_loads)},
          {"grid", out.launch ? Json(text_of(out.launch->grid)) : Json()},
          {"block", out.launch ? Json(text_of(out.launch->block)) : Json()},
          {"median_us", out.us},
          {"gbps", out.gbps},
          {"check", std::move(check)}};
}

}  // namespace

std::string resources_text(const jit::EntryPoint& entry) {
  return fmt::format("{} registers, {} B static shared memory, {} B spilled",
                     entry.resources.registers, entry.resources.static_smem,
                     entry.resources.spill_stores + entry.resources.spill_loads);
}

std::vector<Tensor> tensors_on(const std::vector<RunArgument>& from, Device device) {
  std::vector<Tensor> out;
  for (const RunArgument& argument : from) {
    if (argument.tensor() != nullptr) out.push_back(argument.tensor()->to(device));
  }
  return out;
}

std::vector<jit::Argument> arguments_with(const std::vector<RunArgument>& from,
                                          const std::vector<Tensor>& tensors) {
  std::vector<jit::Argument> out;
  out.reserve(from.size());
  std::size_t tensor = 0;
  for (const RunArgument& argument : from) {
    if (argument.tensor() != nullptr) {
      out.emplace_back(tensors[tensor++]);
    } else if (const auto* whole = std::get_if<std::int64_t>(&argument.value)) {
      out.emplace_back(*whole);
    } else if (const auto* real = std::get_if<double>(&argument.value)) {
      out.emplace_back(*real);
    } else {
      out.emplace_back(std::get<bool>(argument.value));
    }
  }
  return out;
}

void measure_run(RunOutcome& out, measure::Sampler& sampler, const std::vector<Tensor>& tensors) {
  std::vector<double> samples;
  samples.reserve(kSamples);
  for (int i = 0; i < kSamples; ++i) samples.push_back(sampler.sample());
  std::ranges::nth_element(samples, samples.begin() + kSamples / 2);
  out.us = samples[kSamples / 2];
  double bytes = 0;
  for (const Tensor& tensor : tensors) {
    bytes += static_cast<double>(tensor.view().numel()) * bits(tensor.view().dtype()) / 8;
  }
  out.gbps = bytes / (out.us * 1e3);
}

int print_outcome(const RunOutcome& out, bool json) {
  json ? print_json(to_json(out)) : print(to_text(out));
  return out.check && out.check->wrong > 0 ? kFailed : kAllWell;
}

}  // namespace einkorn::cli
