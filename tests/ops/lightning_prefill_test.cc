// lightning_prefill beyond its cases: lengths about the chunks, decays from nothing to everything
// forgotten, packed sequences, and what must hold whatever the numbers are.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "ops/linear_attention/lightning_prefill/contract.h"
#include "tests/ops/prefill_properties.h"

namespace einkorn::test {
namespace {

constexpr const char* kForms[] = {"dtype=bf16", "dtype=f32 gate=factor", "dtype=f16 l2norm=true"};

const OpEntry& entry() {
  static const auto kView = registry();
  return kView->find("lightning_prefill");
}

TEST(LightningPrefill, LengthsAboutTheChunks) {
  for (const int tokens : {1, 15, 16, 17, 63, 64, 65, 97, 1000, 4096}) {
    for (const char* form : kForms) {
      const std::string keys = fmt::format("tokens={} heads=1 {}", tokens, form);
      expect_pass(entry(), make_data(entry(), keys), keys);
    }
  }
}

TEST(LightningPrefill, DecaysFromNothingToEverythingForgotten) {
  for (const std::string form : {"dtype=bf16", "dtype=f32"}) {
    for (const double log : {0.0, -1e-4, -0.02, -1.0, -5.0, -40.0, -1000.0}) {
      const CaseData data =
          make_data(entry(), "tokens=130 heads=2 initial_state=f32 l2norm=true " + form);
      set_every(args_of<einkorn::LightningPrefill>(data).decay,
                [&](std::int64_t i) { return i == 0 ? log : -0.5; });
      expect_pass(entry(), data, form);
    }
  }
  const CaseData data = make_data(entry(), "tokens=130 heads=2 dtype=bf16 gate=factor");
  set_every(args_of<einkorn::LightningPrefill>(data).decay,
            [](std::int64_t i) { return i == 0 ? 0.0 : 1.0; });
  expect_pass(entry(), data, "a factor of 0, a factor of 1");
}

TEST(LightningPrefill, GroupsOfValueHeads) {
  for (const char* heads : {"heads=2 value_heads=4", "heads=2 value_heads=8",
                            "heads=4 value_heads=8", "heads=1 value_heads=3"}) {
    const std::string keys = fmt::format("batch=2 tokens=80 {} dtype=bf16 l2norm=true", heads);
    expect_pass(entry(), make_data(entry(), keys), keys);
  }
}

TEST(LightningPrefill, EveryStateLayoutAndDtype) {
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

TEST(LightningPrefill, EveryHeadSize) {
  for (const int key_dim : {1, 7, 60, 64, 96, 100, 128, 192, 256}) {
    for (const int value_dim : {1, 33, 64, 96, 128, 192, 256}) {
      const std::string keys = fmt::format(
          "tokens=66 heads=1 key_dim={} value_dim={} dtype=bf16 l2norm=true", key_dim, value_dim);
      expect_pass(entry(), make_data(entry(), keys), keys);
    }
  }
}

TEST(LightningPrefill, PackedSequences) {
  expect_packed_sets<einkorn::LightningPrefill>(entry(),
                                                "heads=1 dtype=bf16 l2norm=true initial_state=f32");
  expect_packed_sets<einkorn::LightningPrefill>(entry(),
                                                "heads=1 key_dim=64 dtype=bf16 gate=factor "
                                                "l2norm=true state_layout=vk checkpoint_every=64");
}

TEST(LightningPrefill, SplitAndCarryIsOneRun) {
  const std::vector<std::int64_t> cuts{1, 37, 64, 100, 199};
  expect_split_and_carry<einkorn::LightningPrefill>(
      entry(), "tokens=200 heads=2 dtype=bf16 l2norm=true", cuts);
  expect_split_and_carry<einkorn::LightningPrefill>(
      entry(), "tokens=200 heads=1 dtype=f32 initial_state=f32 state_layout=vk", cuts);
}

TEST(LightningPrefill, SequencesDoNotKnowOfEachOther) {
  for (const std::string keys : {"heads=2 dtype=bf16 l2norm=true", "heads=1 dtype=f32"}) {
    expect_permutation_of_sequences<einkorn::LightningPrefill>(entry(), keys);
    expect_no_leak_between_sequences<einkorn::LightningPrefill>(entry(), keys);
  }
}

TEST(LightningPrefill, NoTokenKnowsOfLaterOnes) {
  expect_prefix_causality<einkorn::LightningPrefill>(entry(),
                                                     "tokens=130 heads=1 dtype=bf16 l2norm=true");
  expect_prefix_causality<einkorn::LightningPrefill>(
      entry(), "tokens=130 heads=1 dtype=bf16 gate=factor l2norm=true");
}

TEST(LightningPrefill, SlicesOfOneTensorAndStateInPlace) {
  expect_slices_and_in_place<einkorn::LightningPrefill>(
      entry(), "tokens=70 heads=2 value_heads=4 dtype=bf16 l2norm=true");
  expect_slices_and_in_place<einkorn::LightningPrefill>(entry(), "tokens=70 heads=1 dtype=f32");
}

TEST(LightningPrefill, BoundsAreReadEachTime) {
  expect_bounds_are_read_each_time<einkorn::LightningPrefill>(entry());
}

TEST(LightningPrefill, RefusalsWriteNothing) {
  expect_refusals_write_nothing<einkorn::LightningPrefill>(entry());
}

TEST(LightningPrefill, NothingToWriteLaunchesNothing) {
  for (const Device device : devices()) {
    expect_nothing_launched(entry(), "tokens=0 heads=4 dtype=bf16 final_state=none", device);
  }
}

}  // namespace
}  // namespace einkorn::test
