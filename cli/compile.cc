#include "cli/compile.h"

#include <algorithm>
#include <set>
#include <utility>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/table.h"
#include "src/cuda/dynamic_library.h"
#include "src/jit/batch.h"

namespace einkorn::cli {
namespace {

// One device of each architecture that kernels are shipped for.
constexpr std::string_view kDevices[] = {"a100", "h100", "b200"};

/// Empty when there is one.
std::string why_no_compiler() {
  const cuda::LibrarySpec& spec = cuda::nvrtc_spec();
  const auto attempt = cuda::try_open(spec, cuda::SearchRoots::of_process(spec));
  if (attempt.library) return {};
  return fmt::format("NVRTC was not found; tried:\n    {}", fmt::join(attempt.tried, "\n    "));
}

/// The distinct requests of variants for problems, and the row that each begins.
class Requests {
 public:
  void add(const Variant& variant, const NamedProblem& problem, const DeviceInfo& device) {
    if (refusal_of(variant, problem.problem.get(), device)) return;
    const Plan plan = variant.plan(problem.problem.get(), device, {});
    for (jit::Request& request : compile_requests(plan, jit::native_arch(device.cc))) {
      const std::string key =
          fmt::format("{}|{}|{}|{}|{}", variant.id(), request.arch, request.file,
                      fmt::join(request.options, " "), fmt::join(request.instantiate, " "));
      if (!seen_.insert(key).second) continue;
      CompiledKernel& row = rows_.emplace_back();
      row.variant = variant.id();
      row.arch = request.arch;
      row.problem = problem.name;
      requests_.push_back(std::move(request));
    }
  }

  std::vector<CompiledKernel> compile(
      const std::function<void(const std::string&)>& progress) const {
    std::size_t done = 0;
    const auto results = jit::compile_all(requests_, [&](std::size_t i, const jit::BatchResult&) {
      ++done;
      if (!progress) return;
      progress(fmt::format("{} of {} compiled, {} for {}", done, requests_.size(), rows_[i].variant,
                           rows_[i].arch));
    });
    std::vector<CompiledKernel> out;
    for (std::size_t i = 0; i < results.size(); ++i) append(rows_[i], results[i], out);
    return out;
  }

 private:
  /// One row for each kernel of the request, or one with the error.
  static void append(CompiledKernel row, const jit::BatchResult& result,
                     std::vector<CompiledKernel>& out) {
    if (result.error) {
      row.error = result.error->what();
      out.push_back(std::move(row));
      return;
    }
    row.compile_ms = result.program->compile_ms;
    for (const jit::EntryPoint& entry : result.program->entries) {
      row.kernel = entry.expression;
      row.resources = entry.resources;
      out.push_back(row);
    }
  }

  std::set<std::string> seen_;
  std::vector<jit::Request> requests_;
  std::vector<CompiledKernel> rows_;  // as requests_
};

std::vector<const Variant*> cuda_variants(const Target& target) {
  std::vector<const Variant*> variants = target.entry->variants;
  if (target.variant != nullptr) variants = {target.variant};
  std::erase_if(variants,
                [](const Variant* v) { return find_arch(v->arch).kind != DeviceKind::kCuda; });
  return variants;
}

/// Smallest and largest of what was added.
struct Range {
  std::int64_t low = 0, high = -1;

  void add(std::int64_t value) {
    low = high < 0 ? value : std::min(low, value);
    high = std::max(high, value);
  }
  std::string text() const {
    if (high < 0) return {};
    return low == high ? std::to_string(low) : fmt::format("{}-{}", low, high);
  }
};

std::int64_t spilled(const CompiledKernel& k) {
  return k.resources.spill_stores + k.resources.spill_loads;
}

/// One line of the table: a variant's kernels for one architecture.
struct Group {
  Group(std::string of_variant, std::string of_arch)
      : variant(std::move(of_variant)), arch(std::move(of_arch)) {}

  std::string variant, arch;
  int kernels = 0, failed = 0, spilling = 0;
  Range registers, smem, stack, spills;
  double compile_ms = 0;

  void add(const CompiledKernel& k) {
    ++kernels;
    if (!k.error.empty()) {
      ++failed;
      return;
    }
    spilling += k.spills() ? 1 : 0;
    registers.add(k.resources.registers);
    smem.add(k.resources.static_smem);
    stack.add(k.resources.stack_bytes);
    spills.add(spilled(k));
    compile_ms += k.compile_ms;
  }
  std::string state() const {
    if (failed > 0) return paint(fmt::format("{} DO NOT COMPILE", failed), Colour::kRed);
    if (spilling == 0) return "not run: no device";
    return paint(fmt::format("{} SPILL", spilling), Colour::kRed) + "; not run: no device";
  }
};

/// What is wrong with a kernel, empty when nothing is.
std::string complaint(const CompiledKernel& k) {
  if (!k.error.empty()) {
    return fmt::format("\n{} for {}, first needed by {}: {}\n", k.variant, k.arch, k.problem,
                       k.error);
  }
  if (!k.spills()) return {};
  return fmt::format(
      "\n{} for {}, first needed by {}: {} bytes of registers spilled\n  kernel: "
      "{}\n",
      k.variant, k.arch, k.problem, spilled(k), k.kernel);
}

}  // namespace

bool CompileResults::any_bad() const {
  return std::ranges::any_of(kernels, [](const CompiledKernel& k) { return k.bad(); });
}

CompileResults compile_for_absent_devices(std::span<const CompileWork> work,
                                          const std::function<void(const std::string&)>& progress) {
  CompileResults out;
  if (std::ranges::all_of(work,
                          [](const auto& one) { return cuda_variants(one.target).empty(); })) {
    return out;
  }
  out.unavailable = why_no_compiler();
  if (!out.unavailable.empty()) return out;
  Requests requests;
  for (const CompileWork& one : work) {
    for (const Variant* variant : cuda_variants(one.target)) {
      for (const std::string_view name : kDevices) {
        const DeviceInfo device = cuda::known_device(name);
        for (const NamedProblem& problem : one.problems) requests.add(*variant, problem, device);
      }
    }
  }
  out.kernels = requests.compile(progress);
  return out;
}

std::string compile_text(const CompileResults& results) {
  if (!results.unavailable.empty()) {
    return fmt::format(
        "CUDA variants were not compiled: {}\n  hint: `make run` brings NVRTC into "
        ".venv; or set EINKORN_NVRTC to a libnvrtc.so.13\n",
        results.unavailable);
  }
  if (results.kernels.empty()) return {};
  std::vector<Group> groups;
  for (const CompiledKernel& k : results.kernels) {
    const auto same = [&](const Group& g) { return g.variant == k.variant && g.arch == k.arch; };
    auto group = std::ranges::find_if(groups, same);
    if (group == groups.end()) group = groups.emplace(group, k.variant, k.arch);
    group->add(k);
  }
  Table table({"variant", "arch", ">kernels", ">registers", ">static shared B", ">stack B",
               ">spills B", ">compile ms", "state"});
  for (const Group& g : groups) {
    table.add({g.variant, g.arch, std::to_string(g.kernels), g.registers.text(), g.smem.text(),
               g.stack.text(), g.spills.text(), fmt::format("{:.0f}", g.compile_ms), g.state()});
  }
  std::string out = table.text();
  for (const CompiledKernel& k : results.kernels) out += complaint(k);
  return out;
}

Json compile_json(const CompileResults& results) {
  Json out = Json::array();
  for (const CompiledKernel& k : results.kernels) {
    const bool ok = k.error.empty();
    out.push_back({{"variant", k.variant},
                   {"arch", k.arch},
                   {"kernel", text_or_null(k.kernel)},
                   {"problem", k.problem},
                   {"registers", ok ? Json(k.resources.registers) : Json()},
                   {"static_smem", ok ? Json(k.resources.static_smem) : Json()},
                   {"stack_bytes", ok ? Json(k.resources.stack_bytes) : Json()},
                   {"spill_stores", ok ? Json(k.resources.spill_stores) : Json()},
                   {"spill_loads", ok ? Json(k.resources.spill_loads) : Json()},
                   {"compile_ms", ok ? Json(k.compile_ms) : Json()},
                   {"status", ok ? (k.spills() ? "spills" : "not run: no device") : "failed"},
                   {"error", text_or_null(k.error)}});
  }
  return out;
}

}  // namespace einkorn::cli
