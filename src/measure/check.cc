#include "src/measure/check.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/measure/memory.h"
#include "src/measure/run_once.h"

namespace einkorn::measure {
namespace {

// All ones is NaN in every floating format; the second pattern is a finite number in each, so that
// an element which is rightly NaN and was never written still differs between the two runs.
constexpr std::uint8_t kPoison[2] = {0xFF, 0x55};

/// A failed check, with the error where there is one.
struct Failure {
  std::string reason;
  double error = 0;
};

/// The arguments and memory as a run left them, on the CPU.
CaseData run_on(const OpDef& op, const Executable& executable, const CaseData& start,
                Device device) {
  const CaseData there = clone_to(op, start, device);
  run_once(executable, there.args.get(), device);
  return clone_to(op, there, kCpuDevice);
}

/// Compares all outputs; the worst error goes to `error`.
std::optional<Failure> compare_outputs(const OpDef& op, const Prepared& prepared,
                                       const CaseData& got, double* error) {
  const auto outputs = op.tensors(got.args.get());
  const auto wanted = op.tensors(prepared.expected.args.get());
  std::optional<Failure> failure;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!is_written(outputs[i].role)) continue;
    const TensorView& view = *outputs[i].view;
    const Comparison result = compare(view, *wanted[i].view, prepared.tolerance);
    *error = std::max(*error, result.error);
    if (result.error <= 1 || (failure && failure->error >= result.error)) continue;
    failure = {
        fmt::format("{}{}: got {:.9g}, want {:.9g}, {:.3g} times the tolerance", outputs[i].name,
                    element_name(view, result.worst), result.got, result.want, result.error),
        result.error};
  }
  return failure;
}

/// Both runs and all comparisons; empty on a pass.
std::string find_failure(const OpDef& op, const Executable& executable, const Prepared& prepared,
                         Device device, double* error) {
  std::optional<CaseData> first;
  for (const std::uint8_t poison : kPoison) {
    const CaseData start = clone_to(op, prepared.inputs, kCpuDevice);
    poison_outputs(op, start, poison);
    CaseData after = run_on(op, executable, start, device);
    if (const auto failure = compare_outputs(op, prepared, after, error)) return failure->reason;
    if (first) {
      if (const auto where = find_output_difference(op, *first, after); !where.empty()) {
        return fmt::format("two runs on the same inputs gave different bits, first at {}", where);
      }
    }
    const CaseData compared = clone_to(op, after, kCpuDevice);
    copy_outputs(op, start, compared);
    if (const auto where = find_difference(op, start, compared); !where.empty()) return where;
    first = std::move(after);
  }
  return {};
}

std::string describe_exception(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return fmt::format("{}: {}", name(error.kind()), error.what());
  } catch (const std::exception& error) {
    return fmt::format("threw: {}", error.what());
  } catch (...) {
    return "threw something that is not a std::exception";
  }
}

CheckResult start_result(const Variant& variant, const Prepared& prepared) {
  return {variant.id(),      prepared.case_name, prepared.level, Status::kSkipped, {}, 0,
          prepared.tolerance};
}

}  // namespace

std::string_view name(Status status) {
  switch (status) {
    case Status::kPass:
      return "pass";
    case Status::kFail:
      return "fail";
    case Status::kRefused:
      return "refused";
    case Status::kSkipped:
      return "skipped";
  }
  return "?";
}

std::string skip_reason(const Variant& variant, Device device) {
  const DeviceKind kind = find_arch(variant.arch).kind.value_or(device.kind);
  std::string why;
  if (kind == DeviceKind::kCuda || device.kind == DeviceKind::kCuda) {
    if (!cuda::available(&why)) return "not run: no device";
  }
  if (kind != device.kind) {
    return fmt::format("not run: needs {}, this check is on {}",
                       kind == DeviceKind::kCuda ? "a CUDA device" : "the CPU", to_string(device));
  }
  if (device.kind == DeviceKind::kCuda && device.index >= cuda::device_count()) {
    return fmt::format("not run: no device {}, {} present", to_string(device),
                       cuda::device_count());
  }
  return {};
}

Prepared prepare(const OpEntry& entry, const CaseData& data, std::string_view case_name) {
  const OpDef& op = *entry.op;
  Prepared out;
  out.problem = op.match(data.args.get());
  out.case_name = case_name;
  out.inputs = with_guards(op, data);
  out.expected = with_double_outputs(op, out.inputs);
  op.reference(out.expected.args.get());
  out.tolerance = op.tolerance(out.problem.get());
  return out;
}

Prepared prepare(const OpEntry& entry, const AnyProblem& problem, std::string_view case_name,
                 std::uint64_t seed) {
  Rng rng(seed);
  const OpDef& op = *entry.op;
  Prepared out = prepare(entry, op.make_inputs(problem.get(), rng), case_name);
  const std::string asked = op.print(problem.get());
  const std::string made = op.print(out.problem.get());
  EK_ICHECK(asked == made, fmt::format("{}: make_inputs made '{}' for '{}'", op.name, made, asked));
  return out;
}

CheckResult check_prepared(const OpEntry& entry, const Variant& variant, const Prepared& prepared,
                           Device device, std::string_view tiling) {
  CheckResult result = start_result(variant, prepared);
  try {
    result.reason = skip_reason(variant, device);
    if (!result.reason.empty()) return result;
    const DeviceInfo& info = device_info(device);
    if (auto refusal = refusal_of(variant, prepared.problem.get(), info)) {
      result.status = Status::kRefused;
      result.reason = std::move(refusal->reason);
      return result;
    }
    const Executable executable(variant.plan(prepared.problem.get(), info, tiling), info);
    result.reason = find_failure(*entry.op, executable, prepared, device, &result.error);
  } catch (...) {
    result.reason = describe_exception(std::current_exception());
  }
  result.status = result.reason.empty() ? Status::kPass : Status::kFail;
  return result;
}

CheckResult check_problem(const OpEntry& entry, const Variant& variant, const AnyProblem& problem,
                          std::string_view case_name, Device device, std::uint64_t seed) {
  return check_prepared(entry, variant, prepare(entry, problem, case_name, seed), device);
}

std::vector<CheckResult> check(const OpEntry& entry, const CheckOptions& options) {
  std::vector<const Variant*> variants = entry.variants;
  if (!options.variant.empty()) {
    variants = {&registry()->find_variant(entry, options.variant)};
  }
  std::vector<CheckResult> results;
  for (const Case& one : entry.op->cases()) {
    if (one.level > options.level) continue;
    const AnyProblem problem = entry.op->parse(split_key_values(one.keys));
    std::optional<Prepared> prepared;  // only made when some variant can be tried
    for (const Variant* variant : variants) {
      CheckResult result{variant->id(),
                         std::string(one.name),
                         one.level,
                         Status::kSkipped,
                         skip_reason(*variant, options.device),
                         0,
                         entry.op->tolerance(problem.get())};
      if (result.reason.empty()) {
        if (!prepared) {
          prepared = prepare(entry, problem, one.name, options.seed);
          prepared->level = one.level;
        }
        result = check_prepared(entry, *variant, *prepared, options.device);
      }
      if (options.progress) options.progress(result);
      results.push_back(std::move(result));
    }
  }
  return results;
}

}  // namespace einkorn::measure
