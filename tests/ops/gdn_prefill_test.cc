// gdn_prefill beyond its cases: lengths about the chunks, gates from nothing to everything
// forgotten, packed sequences, and what must hold whatever the numbers are.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "ops/linear_attention/gdn_prefill/contract.h"
#include "tests/ops/prefill_properties.h"

namespace einkorn::test {
namespace {

constexpr const char* kForms[] = {
    "dtype=bf16 l2norm=true", "dtype=f32", "dtype=f16 gate=softplus dt_bias=true l2norm=true",
    "dtype=bf16 gate=lower_bound a_log=true dt_bias=true beta_form=logit l2norm=true"};

const OpEntry& entry() {
  static const auto kView = registry();
  return kView->find("gdn_prefill");
}

TEST(GdnPrefill, LengthsAboutTheChunks) {
  for (const int tokens : {1, 15, 16, 17, 63, 64, 65, 97, 1000, 4096}) {
    for (const char* form : kForms) {
      const std::string keys = fmt::format("tokens={} heads=1 {}", tokens, form);
      expect_pass(entry(), make_data(entry(), keys), keys);
    }
  }
}

/// g from index, of T = 130 tokens of two heads.
template <class Value>
void expect_gates(Value&& value, const std::string& form) {
  const CaseData data =
      make_data(entry(), "tokens=130 heads=2 gate_dtype=f32 initial_state=f32 " + form);
  set_every(args_of<einkorn::GdnPrefill>(data).g, value);
  expect_pass(entry(), data, form);
}

TEST(GdnPrefill, GatesFromNothingToEverythingForgotten) {
  for (const std::string form : {"dtype=bf16 l2norm=true", "dtype=f32"}) {
    for (const double log : {0.0, -1e-4, -0.02, -1.0, -1.4, -5.0, -20.0, -40.0, -1000.0}) {
      expect_gates([&](std::int64_t) { return log; }, form);
    }
    // Hard resets amid tokens that forget nothing: of both heads, and of one.
    expect_gates([](std::int64_t i) { return i / 2 % 29 == 7 ? -1000.0 : 0.0; }, form);
    expect_gates([](std::int64_t i) { return i % 37 == 0 ? -40.0 : -0.001; }, form);
    // Slower and slower.
    expect_gates([](std::int64_t i) { return -30.0 / static_cast<double>(i + 1); }, form);
  }
  expect_gates([](std::int64_t i) { return i % 53 == 0 ? 0.0 : 0.98; },
               "dtype=bf16 gate=factor l2norm=true");
}

TEST(GdnPrefill, RawGatesFarOut) {
  for (const char* gate : {"softplus", "lower_bound"}) {
    for (const double bias : {-8.0, 8.0}) {
      const CaseData data = make_data(
          entry(), fmt::format("tokens=130 heads=2 dtype=bf16 gate={} a_log=true dt_bias=true "
                               "beta_form=logit l2norm=true",
                               gate));
      set_every(args_of<einkorn::GdnPrefill>(data).dt_bias,
                [&](std::int64_t i) { return bias + 0.01 * static_cast<double>(i % 7); });
      expect_pass(entry(), data, gate);
    }
    for (const double g : {-8.0, -4.0, 0.0, 8.0, 100.0}) {
      const CaseData data = make_data(
          entry(),
          fmt::format("tokens=70 heads=1 dtype=bf16 gate={} a_log=true l2norm=true", gate));
      set_every(args_of<einkorn::GdnPrefill>(data).g, [&](std::int64_t) { return g; });
      expect_pass(entry(), data, gate);
    }
  }
}

TEST(GdnPrefill, GroupsOfValueHeads) {
  for (const char* heads : {"heads=2 value_heads=4", "heads=2 value_heads=8",
                            "heads=4 value_heads=8", "heads=1 value_heads=3"}) {
    const std::string keys = fmt::format("batch=2 tokens=80 {} dtype=bf16 l2norm=true", heads);
    expect_pass(entry(), make_data(entry(), keys), keys);
  }
}

TEST(GdnPrefill, EveryStateLayoutAndDtype) {
  for (const char* layout : {"kv", "vk"}) {
    for (const char* initial : {"none", "f32", "bf16"}) {
      for (const char* final_state : {"none", "f32", "bf16"}) {
        const std::string keys = fmt::format(
            "tokens=70 heads=2 key_dim=64 value_dim=32 dtype=bf16 state_layout={} "
            "initial_state={} final_state={} l2norm=true checkpoint_every=64",
            layout, initial, final_state);
        expect_pass(entry(), make_data(entry(), keys), keys);
      }
    }
  }
}

TEST(GdnPrefill, EveryHeadSize) {
  for (const int key_dim : {1, 7, 60, 64, 96, 100, 128, 192, 256}) {
    for (const int value_dim : {1, 33, 64, 96, 128, 192, 256}) {
      const std::string keys = fmt::format(
          "tokens=66 heads=1 key_dim={} value_dim={} dtype=bf16 l2norm=true", key_dim, value_dim);
      expect_pass(entry(), make_data(entry(), keys), keys);
    }
  }
}

TEST(GdnPrefill, PackedSequences) {
  expect_packed_sets<einkorn::GdnPrefill>(entry(),
                                          "heads=1 dtype=bf16 l2norm=true initial_state=f32");
  expect_packed_sets<einkorn::GdnPrefill>(
      entry(),
      "heads=1 key_dim=64 dtype=bf16 gate=lower_bound a_log=true dt_bias=true "
      "l2norm=true state_layout=vk checkpoint_every=64");
}

TEST(GdnPrefill, SplitAndCarryIsOneRun) {
  const std::vector<std::int64_t> cuts{1, 37, 64, 100, 199};
  expect_split_and_carry<einkorn::GdnPrefill>(entry(), "tokens=200 heads=2 dtype=bf16 l2norm=true",
                                              cuts);
  expect_split_and_carry<einkorn::GdnPrefill>(
      entry(), "tokens=200 heads=1 dtype=f32 initial_state=f32 state_layout=vk", cuts);
}

TEST(GdnPrefill, SequencesDoNotKnowOfEachOther) {
  for (const std::string keys : {"heads=2 dtype=bf16 l2norm=true", "heads=1 dtype=f32"}) {
    expect_permutation_of_sequences<einkorn::GdnPrefill>(entry(), keys);
    expect_no_leak_between_sequences<einkorn::GdnPrefill>(entry(), keys);
  }
}

TEST(GdnPrefill, NoTokenKnowsOfLaterOnes) {
  expect_prefix_causality<einkorn::GdnPrefill>(entry(),
                                               "tokens=130 heads=1 dtype=bf16 l2norm=true");
  expect_prefix_causality<einkorn::GdnPrefill>(
      entry(), "tokens=130 heads=1 dtype=bf16 gate=lower_bound a_log=true l2norm=true");
}

TEST(GdnPrefill, SlicesOfOneTensorAndStateInPlace) {
  expect_slices_and_in_place<einkorn::GdnPrefill>(
      entry(), "tokens=70 heads=2 value_heads=4 dtype=bf16 l2norm=true");
  expect_slices_and_in_place<einkorn::GdnPrefill>(entry(), "tokens=70 heads=1 dtype=f32");
}

TEST(GdnPrefill, BoundsAreReadEachTime) {
  expect_bounds_are_read_each_time<einkorn::GdnPrefill>(entry());
}

TEST(GdnPrefill, RefusalsWriteNothing) {
  expect_refusals_write_nothing<einkorn::GdnPrefill>(entry());
}

TEST(GdnPrefill, NothingToWriteLaunchesNothing) {
  for (const Device device : devices()) {
    expect_nothing_launched(entry(), "tokens=0 heads=4 dtype=bf16 final_state=none", device);
  }
}

}  // namespace
}  // namespace einkorn::test
