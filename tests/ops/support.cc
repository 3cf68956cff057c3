#include "tests/ops/support.h"

#include <cctype>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/float.h"
#include "src/measure/memory.h"

namespace einkorn::test {

using measure::CheckResult;
using measure::Prepared;
using measure::Status;

int test_level() {
  const char* text = std::getenv("EINKORN_TEST_LEVEL");
  if (text == nullptr || *text == '\0') return 1;
  const std::string_view level(text);
  EK_CHECK(level.size() == 1 && level[0] >= '0' && level[0] <= '3', ErrorKind::kValue,
           fmt::format("EINKORN_TEST_LEVEL: expected 0, 1, 2 or 3, got '{}'", level));
  return level[0] - '0';
}

std::vector<Device> devices() {
  std::vector<Device> out{kCpuDevice};
  for (int i = 0; i < cuda::device_count(); ++i) out.push_back(cuda_device(i));
  return out;
}

void expect_all_pass(const OpEntry& entry, const Prepared& prepared, Device device) {
  int served = 0;
  for (const Variant* variant : entry.variants) {
    const CheckResult result = measure::check_prepared(entry, *variant, prepared, device);
    EXPECT_NE(result.status, Status::kFail)
        << result.variant << " on " << to_string(device) << ", "
        << entry.op->print(prepared.problem.get()) << ": " << result.reason;
    if (result.status == Status::kPass && variant != entry.op->reference_variant) ++served;
  }
  if (entry.op->for_reference_only(prepared.problem.get())) return;
  EXPECT_GT(served, 0) << "only the reference, if that, serves "
                       << entry.op->print(prepared.problem.get()) << " on " << to_string(device);
}

void expect_pass(const OpEntry& entry, const CaseData& data, std::string_view title) {
  const Prepared prepared = measure::prepare(entry, data, title);
  for (const Device device : devices()) expect_all_pass(entry, prepared, device);
}

CaseData make_data(const OpEntry& entry, std::string_view keys, std::uint64_t seed) {
  Rng rng(seed);
  return entry.op->make_inputs(entry.op->parse(split_key_values(keys)).get(), rng);
}

Prepared prepare(const OpEntry& entry, std::string_view keys, std::uint64_t seed) {
  return measure::prepare(entry, entry.op->parse(split_key_values(keys)), keys, seed);
}

namespace {

/// The op's public entry point, waited for.
void call(const OpEntry& entry, const CaseData& data, Device device, std::string_view variant) {
  if (device.kind == DeviceKind::kCpu) {
    entry.op->call(data.args.get(), Stream::cpu(), variant);
    return;
  }
  const cuda::OwnedStream stream(device.index);
  entry.op->call(data.args.get(), stream.get(), variant);
  stream.synchronize();
}

}  // namespace

void expect_refused(const OpEntry& entry, const CaseData& data, Device device, ErrorKind kind,
                    std::string_view text) {
  const CaseData start = measure::with_guards(*entry.op, data);
  const CaseData there = measure::clone_to(*entry.op, start, device);
  try {
    call(entry, there, device, {});
    ADD_FAILURE() << "no error on " << to_string(device) << ", expected one with: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_THAT(error.what(), testing::HasSubstr(std::string(text)));
  }
  const CaseData after = measure::clone_to(*entry.op, there, kCpuDevice);
  EXPECT_EQ(measure::find_difference(*entry.op, start, after), "");
}

void expect_nothing_launched(const OpEntry& entry, std::string_view keys, Device device) {
  const Prepared prepared = prepare(entry, keys);
  const DeviceInfo& info = device_info(device);
  for (const Variant* variant : entry.variants) {
    if (refusal_of(*variant, prepared.problem.get(), info)) continue;
    if (variant != entry.op->reference_variant) {
      EXPECT_TRUE(variant->plan(prepared.problem.get(), info, {}).stages.empty()) << variant->id();
    }
    const CaseData there = measure::clone_to(*entry.op, prepared.inputs, device);
    call(entry, there, device, variant->name());
    const CaseData after = measure::clone_to(*entry.op, there, kCpuDevice);
    EXPECT_EQ(measure::find_difference(*entry.op, prepared.inputs, after), "") << variant->id();
  }
}

void expect_served(const OpEntry& entry, std::string_view keys) {
  const AnyProblem problem = entry.op->parse(split_key_values(keys));
  if (entry.op->for_reference_only(problem.get())) return;
  const auto served = [&](const DeviceInfo& info) {
    const Selection selection = explain(entry, problem.get(), info);
    EXPECT_NE(selection.chosen, nullptr)
        << info.name << ": " << describe_failure(entry, problem.get(), info, selection);
    EXPECT_NE(selection.chosen, entry.op->reference_variant) << info.name << ": " << keys;
  };
  served(cpu_info());
  for (const std::string_view name : kKnownDevices) served(find_device_info(name));
}

void expect_cols_served(const OpEntry& entry, const std::vector<std::string>& keys,
                        std::int64_t dense, const std::vector<std::int64_t>& others,
                        std::int64_t widest) {
  std::vector<std::int64_t> all = others;
  for (std::int64_t cols = 1; cols <= widest; cols = cols < dense ? cols + 1 : cols * 9 / 8) {
    all.push_back(cols);
  }
  for (const std::string& rest : keys) {
    for (const std::int64_t cols : all) {
      expect_served(entry, fmt::format("rows=128 cols={} {}", cols, rest));
    }
  }
}

void set_element(const TensorView& view, std::int64_t row, std::int64_t col, double value) {
  store_from_double(view, row * view.stride(0) + col, value);
}

std::string test_name(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return out;
}

}  // namespace einkorn::test
