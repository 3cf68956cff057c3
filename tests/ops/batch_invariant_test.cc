// What batch-invariant mode promises: f(x[:m]) == f(x)[:m] to the bit, for every variant that
// declares it and for whatever the mode chooses.

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <einkorn/batch_invariant.h>
#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "src/measure/run_once.h"
#include "tests/ops/support.h"

namespace einkorn::test {
namespace {

constexpr std::int64_t kRows = 257;
constexpr std::int64_t kFewer[] = {1, 7, 255, 256, 257};

/// Of each an op takes those whose keys it has and whose sizes it accepts. No other size may be
/// kRows, by which rows are known.
constexpr std::string_view kProblems[] = {
    "cols=4096 dtype=bf16",
    "cols=515 dtype=f32",
    "cols=20000 dtype=f32",
    "cols=1024 dtype=f16 residual=f32 residual_out=true rstd=true",
    // Tensors whose own rows allow different alignments, which one row alone does not show.
    "cols=1030 dtype=f32 residual=bf16",
    "cols=1024 dtype=bf16 layout=row_strided align=2",
    "cols=1024 dtype=f16 packing=halves",
    "cols=1024 dtype=bf16 packing=interleaved",
    "cols=4096 dtype=bf16 rounding=gemma offset=1",
    "q_heads=3 k_heads=2 cols=128 dtype=bf16 rounding=gemma offset=1",
    "q_heads=1 k_heads=1 cols=67 dtype=f16 weight=f32",
};

bool has_keys(const OpDef& op, std::string_view keys) {
  const std::vector<Key> known = op.keys();
  return std::ranges::all_of(split_key_values(keys), [&](const auto& pair) {
    return std::ranges::find(known, pair.first, &Key::name) != known.end();
  });
}

std::string with_rows(std::string_view keys, std::int64_t rows) {
  return fmt::format("rows={} {}", rows, keys);
}

bool accepts(const OpDef& op, std::string_view keys) {
  if (!has_keys(op, keys)) return false;
  try {
    op.parse(split_key_values(with_rows(keys, kRows)));
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kValue) << error.what();
    return false;
  }
}

bool is_rows(const TensorView& view) { return view.rank() >= 1 && view.size(0) == kRows; }

/// The arguments with the first `rows` rows of each tensor that has rows.
std::shared_ptr<void> first_rows(const OpDef& op, const CaseData& data, std::int64_t rows) {
  std::shared_ptr<void> out = op.copy_args(data.args.get());
  for (const NamedTensor& tensor : op.tensors(out.get())) {
    if (is_rows(*tensor.view)) *tensor.view = tensor.view->slice(0, 0, rows);
  }
  return out;
}

bool equal_row(const TensorView& a, const TensorView& b, std::int64_t row) {
  const std::int64_t element = bits(a.dtype()) / 8;
  const auto at = [&](const TensorView& view) {
    return view.data_as<const char>() + row * view.stride(0) * element;
  };
  const std::int64_t count = a.numel() / a.size(0);  // behind a row's index nothing has gaps
  return std::memcmp(at(a), at(b), static_cast<std::size_t>(count * element)) == 0;
}

/// The first of the outputs' rows before `rows` that differs, in words; empty: none.
std::string difference(const OpDef& op, const CaseData& a, const CaseData& b, std::int64_t rows) {
  const auto others = op.tensors(b.args.get());
  std::size_t index = 0;
  for (const NamedTensor& tensor : op.tensors(a.args.get())) {
    const TensorView& other = *others.at(index++).view;
    if (tensor.role != Role::kOutput || !is_rows(*tensor.view)) continue;
    for (std::int64_t row = 0; row < rows; ++row) {
      if (!equal_row(*tensor.view, other, row)) return fmt::format("{} row {}", tensor.name, row);
    }
  }
  return {};
}

/// One op on one problem of one device.
class Subject {
 public:
  Subject(const OpEntry& entry, std::string_view keys, Device device)
      : entry_(entry),
        keys_(keys),
        device_(device),
        problem_(entry.op->parse(split_key_values(with_rows(keys, kRows)))),
        start_(make_data(entry, with_rows(keys, kRows))) {}

  bool is_served(std::string_view choice) const {
    return explain(entry_, problem_.get(), device_info(device_), choice).chosen != nullptr;
  }

  /// Rows of a shorter call are those of the whole. A shorter call may be refused, as one row of a
  /// strided tensor is another problem than two; it may not differ.
  void expect_same_rows(std::string_view choice) const {
    const CaseData whole = run(choice, kRows);
    for (const std::int64_t rows : kFewer) {
      SCOPED_TRACE(rows);
      try {
        EXPECT_EQ(difference(*entry_.op, whole, run(choice, rows), rows), "");
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kNotImplemented) << error.what();
        EXPECT_LT(rows, 2) << error.what();
      }
    }
  }

  /// Whatever tiling the heuristic takes for some number of rows, the rows are the same.
  void expect_same_for_all_heuristics(const Variant& variant) const {
    const CaseData whole = run(variant.id(), kRows);
    for (const std::string& tiling : heuristics(variant)) {
      SCOPED_TRACE(tiling);
      const CaseData there = measure::clone_to(*entry_.op, start_, device_);
      const Executable executable(variant.plan(problem_.get(), device_info(device_), tiling),
                                  device_info(device_));
      measure::run_once(executable, there.args.get(), device_);
      EXPECT_EQ(
          difference(*entry_.op, whole, measure::clone_to(*entry_.op, there, kCpuDevice), kRows),
          "");
    }
  }

 private:
  std::set<std::string> heuristics(const Variant& variant) const {
    std::set<std::string> out;
    for (std::int64_t rows = 1; rows <= std::int64_t{1} << 20; rows *= 2) {
      // With one row there is no stride.
      if (rows == 1 && keys_.find("layout") != std::string::npos) continue;
      const AnyProblem problem = entry_.op->parse(split_key_values(with_rows(keys_, rows)));
      if (refusal_of(variant, problem.get(), device_info(device_))) continue;
      out.insert(variant.tilings(problem.get(), device_info(device_)).front());
    }
    return out;
  }

  CaseData run(std::string_view choice, std::int64_t rows) const {
    const CaseData there = measure::clone_to(*entry_.op, start_, device_);
    const auto args = first_rows(*entry_.op, there, rows);
    if (device_.kind == DeviceKind::kCpu) {
      entry_.op->call(args.get(), Stream::cpu(), choice);
    } else {
      const cuda::OwnedStream stream(device_.index);
      entry_.op->call(args.get(), stream.get(), choice);
      stream.synchronize();
    }
    return measure::clone_to(*entry_.op, there, kCpuDevice);
  }

  const OpEntry& entry_;
  std::string keys_;
  Device device_;
  AnyProblem problem_;
  CaseData start_;
};

/// Calls f(subject, trace) for each problem that the op knows, on each device.
template <class F>
void for_each_subject(const OpEntry& entry, F&& f) {
  if (!has_keys(*entry.op, "rows=1 cols=1")) return;
  for (const std::string_view keys : kProblems) {
    if (!accepts(*entry.op, keys)) continue;
    for (const Device device : devices()) {
      SCOPED_TRACE(fmt::format("{} {} on {}", entry.op->name, keys, to_string(device)));
      f(Subject(entry, keys, device));
    }
  }
}

TEST(BatchInvariantOps, VariantsThatDeclareItKeepIt) {
  const auto view = registry();
  const BatchInvariantScope scope;
  for (const OpEntry& entry : view->ops()) {
    for_each_subject(entry, [&](const Subject& subject) {
      for (const Variant* variant : entry.variants) {
        if (!variant->batch_invariant || !subject.is_served(variant->id())) continue;
        SCOPED_TRACE(variant->id());
        subject.expect_same_rows(variant->id());
        subject.expect_same_for_all_heuristics(*variant);
      }
    });
  }
}

TEST(BatchInvariantOps, WhatTheModeChoosesKeepsIt) {
  const auto view = registry();
  const BatchInvariantScope scope;
  for (const OpEntry& entry : view->ops()) {
    for_each_subject(entry, [](const Subject& subject) {
      if (subject.is_served({})) subject.expect_same_rows({});
    });
  }
}

// Without this the tests above would pass on nothing.
TEST(BatchInvariantOps, EachArchHasOneForTheOpsOfTransformers) {
  const auto view = registry();
  for (const std::string_view name : {"rms_norm", "silu_mul"}) {
    const OpEntry& entry = view->find(name);
    const auto declared = [&](std::string_view arch) {
      return std::ranges::any_of(entry.variants, [&](const Variant* variant) {
        return variant->batch_invariant && variant != entry.op->reference_variant &&
               variant->arch == arch;
      });
    };
    const auto built = [&](std::string_view arch) {
      return std::ranges::any_of(entry.variants,
                                 [&](const Variant* variant) { return variant->arch == arch; });
    };
    EXPECT_TRUE(declared("cpu")) << name;
    EXPECT_TRUE(declared("smxx") || !built("smxx")) << name;
  }
}

}  // namespace
}  // namespace einkorn::test
