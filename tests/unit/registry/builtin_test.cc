// The built-in lists: what is in them, in which order, and what serves which device.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <einkorn/registry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/registry/builtin.h"
#include "src/registry/lists.h"
#include "tests/unit/golden.h"

namespace einkorn {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

/// The lists read a third time, as text.
std::vector<std::string> listed_ids() {
  std::vector<std::string> out;
#define EK_OP(op)
#define EK_VARIANT(op, arch, design, version) \
  EK_IF_BUILT(arch, out.emplace_back(#op "/" #arch "/" #design "_v" #version);)
#include "ops/variants.inc"
#undef EK_OP
#undef EK_VARIANT
  return out;
}

const OpEntry& entry_of(const std::vector<OpEntry>& entries, std::string_view op) {
  return *std::find_if(entries.begin(), entries.end(),
                       [&](const OpEntry& entry) { return entry.op->name == op; });
}

std::string chosen(std::string_view op, std::string_view keys, std::string_view device) {
  const auto entries = detail::builtin_ops();
  const OpEntry& entry = entry_of(entries, op);
  const AnyProblem problem = entry.op->parse(split_key_values(keys));
  const Selection selection = explain(entry, problem.get(), find_device_info(device));
  return selection.chosen == nullptr ? "none" : selection.chosen->name();
}

TEST(Builtin, HasEveryLineOfTheListsInOrder) {
  std::vector<std::string> ids;
  for (const OpEntry& entry : detail::builtin_ops()) {
    for (const Variant* variant : entry.variants) {
      if (variant != entry.op->reference_variant) ids.push_back(variant->id());
    }
  }
  EXPECT_THAT(ids, ElementsAreArray(listed_ids()));
  EXPECT_FALSE(ids.empty());
}

TEST(Builtin, ReferenceIsLastAndServesTheCpuOnly) {
  for (const OpEntry& entry : detail::builtin_ops()) {
    ASSERT_FALSE(entry.variants.empty()) << entry.op->name;
    EXPECT_EQ(entry.variants.back(), entry.op->reference_variant) << entry.op->name;
    EXPECT_EQ(entry.variants.back()->name(), "cpu/reference_v1");
    const AnyProblem problem = entry.op->parse({});
    EXPECT_FALSE(refusal_of(*entry.variants.back(), problem.get(), cpu_info()));
    EXPECT_TRUE(refusal_of(*entry.variants.back(), problem.get(), find_device_info("h100")));
  }
}

TEST(Builtin, NamesAreWhatTheListsSay) {
  for (const OpEntry& entry : detail::builtin_ops()) {
    std::set<std::string> names;
    for (const Variant* variant : entry.variants) {
      EXPECT_EQ(variant->op, entry.op->name);
      EXPECT_NO_THROW(find_arch(variant->arch)) << variant->id();
      EXPECT_GE(variant->version, 1) << variant->id();
      EXPECT_FALSE(variant->summary.empty()) << variant->id();
      EXPECT_TRUE(names.insert(variant->name()).second) << variant->id() << " twice";
    }
  }
}

TEST(Builtin, ArchesCoverTheirRanges) {
  EXPECT_EQ(find_arch("cpu").kind, DeviceKind::kCpu);
  EXPECT_EQ(find_arch("smxx").min_cc, 80);
  EXPECT_EQ(find_arch("sm90").max_cc, 90);
  for (const Arch& arch : arches()) EXPECT_LE(arch.min_cc, arch.max_cc) << arch.name;
}

TEST(Builtin, PreferredVariantByDevice) {
  const auto* keys = "rows=16384 cols=4096 dtype=bf16";
  EXPECT_EQ(chosen("rms_norm", keys, "h100"), "smxx/rows_v1");
  EXPECT_EQ(chosen("rms_norm", keys, "a100"), "smxx/rows_v1");
  EXPECT_EQ(chosen("rms_norm", keys, "b200"), "smxx/rows_v1");
  EXPECT_EQ(chosen("rms_norm", keys, "rtx4090"), "smxx/rows_v1");
  EXPECT_EQ(chosen("rms_norm", keys, "sm_120"), "smxx/rows_v1");
  EXPECT_EQ(chosen("rms_norm", keys, "cpu"), "cpu/rows_v1");
  EXPECT_EQ(chosen("silu_mul", "", "h200"), "smxx/flat_v1");
  EXPECT_EQ(chosen("silu_mul", "", "l40s"), "smxx/flat_v1");
  EXPECT_EQ(chosen("silu_mul", "", "cpu"), "cpu/rows_v1");
}

// "Another variant must take it": every width has a server on every device.
TEST(Builtin, EveryWidthIsServedOnEveryDevice) {
  const auto entries = detail::builtin_ops();
  const OpEntry& entry = entry_of(entries, "rms_norm");
  for (const char* device : {"cpu", "a100", "h100", "b200", "rtx5090"}) {
    const DeviceInfo info = find_device_info(device);
    for (const int cols :
         {1, 2, 3, 7, 8, 127, 4095, 4096, 16384, 32769, 65536, 65537, 131072, 262143, 262144}) {
      for (const char* rest : {"dtype=f32", "dtype=bf16 residual=f32", "dtype=f16 rounding=none"}) {
        const AnyProblem problem =
            entry.op->parse(split_key_values("rows=5 cols=" + std::to_string(cols) + " " + rest));
        EXPECT_NE(explain(entry, problem.get(), info).chosen, nullptr)
            << device << " cols=" << cols << " " << rest;
      }
    }
  }
}

TEST(Builtin, ExplainTriesAllAlsoBehindTheChosen) {
  const auto entries = detail::builtin_ops();
  const OpEntry& entry = entry_of(entries, "rms_norm");
  const AnyProblem problem = entry.op->parse({});
  const Selection selection = explain(entry, problem.get(), find_device_info("h100"));
  EXPECT_EQ(selection.tried.size(), entry.variants.size());
  EXPECT_EQ(selection.quality, "default");
  EXPECT_EQ(selection.source, "list order");
  ASSERT_NE(selection.chosen, nullptr);
  EXPECT_EQ(selection.chosen->name(), "smxx/rows_v1");
  const Attempt& last = selection.tried.back();
  ASSERT_TRUE(last.refusal.has_value());
  EXPECT_EQ(last.refusal->reason, "tensors are on cuda:0");
}

TEST(Builtin, FailureTableNamesEveryVariant) {
  const auto entries = detail::builtin_ops();
  const OpEntry& entry = entry_of(entries, "rms_norm");
  const AnyProblem odd = entry.op->parse(split_key_values("rows=7 cols=33 dtype=bf16 align=2"));
  test::GoldenErrors errors("errors/select.txt");
  errors.add("named, refuses, others would serve",
             [&] { select(entry, odd.get(), find_device_info("h100"), "sm90/bulk_v1"); });
  errors.add("named, of another architecture",
             [&] { select(entry, odd.get(), find_device_info("a100"), "sm90/bulk_v1"); });
  DeviceInfo old = find_device_info("a100");
  old.cc = 75;
  errors.add("a device too old for all", [&] { select(entry, odd.get(), old); });
}

TEST(Builtin, DumpShowsEverythingWithItsState) {
  const std::string text = dump();
  for (const std::string& id : listed_ids()) {
    EXPECT_THAT(text, HasSubstr(id.substr(id.find('/') + 1)));
  }
  EXPECT_THAT(text, HasSubstr("cpu/reference_v1"));
  EXPECT_THAT(text, HasSubstr("rms_norm (norm): "));
  const auto lines = std::count(text.begin(), text.end(), '\n');
  std::size_t expected = 0;
  const auto view = registry();
  for (const OpEntry& entry : view->ops()) expected += 1 + entry.variants.size();
  EXPECT_EQ(lines, static_cast<std::ptrdiff_t>(expected)) << "one line an op and a variant";
}

TEST(Builtin, AvailabilityGivesTheReason) {
  for (const OpEntry& entry : detail::builtin_ops()) {
    for (const Variant* variant : entry.variants) {
      const Availability state = availability(*variant);
      EXPECT_EQ(state.available, state.reason.empty()) << variant->id() << ": " << state.reason;
      if (find_arch(variant->arch).kind == DeviceKind::kCpu) {
        EXPECT_TRUE(state.available) << variant->id();
      }
      if (!cuda::available() && find_arch(variant->arch).kind == DeviceKind::kCuda) {
        EXPECT_FALSE(state.available);
      }
    }
  }
}

TEST(Devices, FoundByName) {
  EXPECT_EQ(find_device_info("cpu").device, kCpuDevice);
  EXPECT_TRUE(find_device_info("cpu").present);
  EXPECT_EQ(find_device_info("h100").cc, 90);
  EXPECT_FALSE(find_device_info("h100").present);
  EXPECT_THAT(test::error_text([] { find_device_info("h1000"); }),
              HasSubstr("ValueError: device: expected one of"));
}

}  // namespace
}  // namespace einkorn
