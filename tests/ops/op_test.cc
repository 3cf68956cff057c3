// Every op and variant of the registry on every case: the one test that a new op or variant gets
// without a line of its own. EINKORN_TEST_LEVEL (0 to 3, default 1) says up to which level cases
// run. Cases run on the CPU and on each CUDA device here.

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "tests/ops/support.h"

namespace einkorn::test {
namespace {

struct CaseParam {
  const OpEntry* entry;
  Case one;
  Device device;
};

void PrintTo(const CaseParam& param, std::ostream* out) {  // NOLINT: gtest's name
  *out << param.entry->op->name << " " << param.one.keys;
}

/// The registry for as long as the process: parameters point into it.
const Registry& all() {
  static const auto kView = registry();
  return *kView;
}

std::vector<CaseParam> case_params() {
  std::vector<CaseParam> out;
  for (const OpEntry& entry : all().ops()) {
    for (const Case& one : entry.op->cases()) {
      if (one.level > test_level()) continue;
      for (const Device device : devices()) out.push_back({&entry, one, device});
    }
  }
  return out;
}

std::string case_name(const testing::TestParamInfo<CaseParam>& info) {
  return test_name(fmt::format("{}_{}_{}", info.param.entry->op->name, info.param.one.name,
                               to_string(info.param.device)));
}

class OpCase : public testing::TestWithParam<CaseParam> {};

TEST_P(OpCase, EveryVariantAgreesWithTheReference) {
  const auto& [entry, one, device] = GetParam();
  expect_all_pass(*entry, prepare(*entry, one.keys), device);
}

INSTANTIATE_TEST_SUITE_P(Registry, OpCase, testing::ValuesIn(case_params()), case_name);

class OpContract : public testing::TestWithParam<const OpEntry*> {};

std::vector<const OpEntry*> op_params() {
  std::vector<const OpEntry*> out;
  for (const OpEntry& entry : all().ops()) out.push_back(&entry);
  return out;
}

std::string op_name(const testing::TestParamInfo<const OpEntry*>& info) {
  return test_name(info.param->op->name);
}

TEST_P(OpContract, CasesParsePrintAndHaveDistinctNames) {
  const OpDef& op = *GetParam()->op;
  std::vector<std::string_view> names;
  for (const Case& one : op.cases()) {
    EXPECT_EQ(std::ranges::count(names, one.name), 0) << one.name;
    names.push_back(one.name);
    EXPECT_GE(one.level, 0);
    EXPECT_LE(one.level, 3);
    const AnyProblem problem = op.parse(split_key_values(one.keys));
    const std::string printed = op.print(problem.get());
    EXPECT_EQ(op.print(op.parse(split_key_values(printed)).get()), printed) << one.name;
    const Work work = op.work(problem.get());
    EXPECT_GE(work.executed_flops, work.useful_flops) << one.name;
    EXPECT_GE(work.est_bytes, work.min_bytes) << one.name;
  }
  EXPECT_FALSE(names.empty());
}

TEST_P(OpContract, TheReferenceIsTheLastVariant) {
  const OpEntry& entry = *GetParam();
  ASSERT_FALSE(entry.variants.empty());
  EXPECT_EQ(entry.variants.back(), entry.op->reference_variant);
}

TEST_P(OpContract, EveryTilingPlansAndAgrees) {
  const OpEntry& entry = *GetParam();
  const int level = std::min(test_level(), 2);
  for (const Case& one : entry.op->cases()) {
    if (one.level > (level == 2 ? 1 : 0)) continue;
    const measure::Prepared prepared = prepare(entry, one.keys);
    for (const Device device : devices()) {
      for (const Variant* variant : entry.variants) {
        if (refusal_of(*variant, prepared.problem.get(), device_info(device))) continue;
        const auto tilings = variant->tilings(prepared.problem.get(), device_info(device));
        ASSERT_FALSE(tilings.empty()) << variant->id() << " supports " << one.keys;
        for (std::size_t i = 1; i < tilings.size(); ++i) {
          const auto result =
              measure::check_prepared(entry, *variant, prepared, device, tilings[i]);
          EXPECT_EQ(result.status, measure::Status::kPass)
              << variant->id() << " " << tilings[i] << ", " << one.name << ": " << result.reason;
        }
      }
    }
  }
}

/// Problems drawn from an op's keys, as typed.
class ProblemSource {
 public:
  ProblemSource(const OpDef& op, std::uint64_t seed) : op_(op), rng_(seed) {}

  /// Draws until the contract accepts one of at most `max_bytes`. Of an op whose keys have much to
  /// do with each other that takes thousands of draws, some 20 us each.
  std::string next(double max_bytes) {
    for (int tries = 0; tries < 1000000; ++tries) {
      const std::string keys = draw();
      try {
        const AnyProblem problem = op_.parse(split_key_values(keys));
        if (op_.work(problem.get()).min_bytes <= max_bytes) return keys;
      } catch (const Error& error) {
        // Combinations that the contract excludes are its right; anything else is a fault.
        if (error.kind() != ErrorKind::kValue && error.kind() != ErrorKind::kType) throw;
      }
    }
    throw_internal("ProblemSource", fmt::format("{}: no problem found", op_.name));
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return rng_.next() % bound; }

  std::string draw() {
    std::string out;
    for (const Key& key : op_.keys()) {
      // Half of the optional parts at their default, so that every feature meets the plain form.
      if (below(4) == 0 && key.name != "rows" && key.name != "cols") continue;
      out += fmt::format("{}{}={}", out.empty() ? "" : " ", key.name, draw_value(key));
    }
    return out;
  }

  std::string draw_value(const Key& key) {
    if (key.type == "int" || key.type == "number") return draw_number(key);
    std::vector<std::string> words;
    std::size_t at = 0;
    while (at <= key.allowed.size()) {
      const std::size_t end = std::min(key.allowed.find('|', at), key.allowed.size());
      words.push_back(key.allowed.substr(at, end - at));
      at = end + 1;
    }
    return words[below(words.size())];
  }

  /// Sizes spread over their magnitudes, often at or beside a power of two.
  std::string draw_number(const Key& key) {
    const std::size_t dots = key.allowed.find("..");
    EK_ICHECK(dots != std::string::npos, fmt::format("{} is not a range", key.allowed));
    const double low = std::stod(key.allowed.substr(0, dots));
    const double high = std::min(std::stod(key.allowed.substr(dots + 2)), 20000.0);
    const double exponent = rng_.uniform() * std::log2(high + 1);
    double value = std::exp2(exponent);
    if (below(2) == 0) value = std::exp2(std::floor(exponent)) + static_cast<double>(below(3)) - 1;
    value = std::clamp(std::floor(value), low, high);
    // "0..4096 by 64": in such steps.
    if (const std::size_t by = key.allowed.find(" by "); by != std::string::npos) {
      const double step = std::stod(key.allowed.substr(by + 4));
      value = std::floor(value / step) * step;
    }
    return std::to_string(std::llround(value));
  }

  const OpDef& op_;
  Rng rng_;
};

TEST_P(OpContract, VariantsAgreeOnRandomProblems) {
  const OpEntry& entry = *GetParam();
  const int count = test_level() >= 2 ? 300 : 40;
  ProblemSource source(*entry.op, 20240917);
  for (int i = 0; i < count; ++i) {
    const std::string keys = source.next(2e6);
    const measure::Prepared prepared = prepare(entry, keys, static_cast<std::uint64_t>(i) + 1);
    for (const Device device : devices()) expect_all_pass(entry, prepared, device);
    if (HasFailure()) return;  // one is enough to look at
  }
}

bool has_key(const OpDef& op, std::string_view name) {
  return std::ranges::any_of(op.keys(), [&](const Key& key) { return key.name == name; });
}

TEST_P(OpContract, LayoutsAndAlignments) {
  const OpEntry& entry = *GetParam();
  if (!has_key(*entry.op, "layout") || !has_key(*entry.op, "align")) {
    GTEST_SKIP() << entry.op->name << " has no keys layout and align";
  }
  int served = 0;
  for (const char* layout : {"contiguous", "row_strided"}) {
    for (const int cols : {1, 2, 7, 8, 31, 64, 1000, 1024, 4097}) {
      for (const int align : {2, 4, 8, 16}) {
        for (const char* dtype : {"f32", "bf16"}) {
          const std::string keys =
              fmt::format("rows=5 cols={} dtype={} layout={} align={}", cols, dtype, layout, align);
          try {
            entry.op->parse(split_key_values(keys));
          } catch (const Error& error) {
            ASSERT_EQ(error.kind(), ErrorKind::kValue) << error.what();
            continue;  // e.g. rows of one odd f32 cannot be 16-byte aligned without gaps
          }
          ++served;
          const measure::Prepared prepared = prepare(entry, keys);
          for (const Device device : devices()) expect_all_pass(entry, prepared, device);
        }
      }
    }
  }
  EXPECT_GT(served, 40);
}

INSTANTIATE_TEST_SUITE_P(Registry, OpContract, testing::ValuesIn(op_params()), op_name);

}  // namespace
}  // namespace einkorn::test
