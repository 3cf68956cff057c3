#pragma once

// Correctness: every variant against its op's reference.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/op.h>
#include <einkorn/registry.h>

namespace einkorn::measure {

enum class Status { kPass, kFail, kRefused, kSkipped };
std::string_view name(Status status);

/// One variant on one case.
struct CheckResult {
  std::string variant;  ///< id
  std::string case_name;
  int level = 0;
  Status status = Status::kSkipped;
  std::string reason;  ///< why it failed, was refused or skipped; empty on a pass
  double error = 0;    ///< as a multiple of what the tolerance allows: passes at <= 1
  Tolerance tolerance;
};

struct CheckOptions {
  Device device;
  std::string variant;  ///< only this one, as find_variant takes it; empty: all
  int level = 1;        ///< cases up to this level
  std::uint64_t seed = 1;
  std::function<void(const CheckResult&)> progress;  ///< after each result; may be empty
};

/// Runs the op's cases. Outputs are poisoned before each run and compared with the reference in
/// double; then run again on other poison, which must give the same bits. Every other byte, inputs,
/// gaps between rows and guards around each allocation included, must stay as it was. Never throws
/// for a variant that fails: its error is the result's reason.
std::vector<CheckResult> check(const OpEntry& entry, const CheckOptions& options);

/// One variant on one problem, with inputs from `seed`.
CheckResult check_problem(const OpEntry& entry, const Variant& variant, const AnyProblem& problem,
                          std::string_view case_name, Device device, std::uint64_t seed);

/// A case made ready to check variants on: guarded inputs and what the reference makes of them.
struct Prepared {
  AnyProblem problem;
  std::string case_name;
  int level = 0;
  CaseData inputs;    ///< on the CPU
  CaseData expected;  ///< outputs in f64
  Tolerance tolerance;
};

/// The reference runs here, once for all variants. Throws what make_inputs and the reference throw.
Prepared prepare(const OpEntry& entry, const AnyProblem& problem, std::string_view case_name,
                 std::uint64_t seed);
/// The same for given arguments, on the CPU: layouts and aliases are kept, and an output that is
/// exactly an input is run in place.
Prepared prepare(const OpEntry& entry, const CaseData& data, std::string_view case_name);

/// One variant on a prepared case, built with that printed tiling; empty: the heuristic's.
CheckResult check_prepared(const OpEntry& entry, const Variant& variant, const Prepared& prepared,
                           Device device, std::string_view tiling = {});

/// Why the variant cannot be tried on the device at all (missing, or of another kind); empty when
/// it can.
std::string skip_reason(const Variant& variant, Device device);

/// Arguments and memory moved to a device, layouts and aliasing kept: every view points into the
/// copy of the storage that it pointed into.
CaseData clone_to(const OpDef& op, const CaseData& data, Device device);

/// The same arguments with every output replaced by a contiguous f64 tensor on the CPU.
CaseData with_double_outputs(const OpDef& op, const CaseData& data);

/// Result of comparing one output with its reference.
struct Comparison {
  double error = 0;          ///< as CheckResult::error; infinity where NaN or infinity disagree
  std::int64_t worst = -1;   ///< linear index of the element that is farthest off
  double got = 0, want = 0;  ///< the values there
};
/// `got` of any dtype and layout, `want` in f64, both on the CPU.
Comparison compare(const TensorView& got, const TensorView& want, const Tolerance& tolerance);

}  // namespace einkorn::measure
