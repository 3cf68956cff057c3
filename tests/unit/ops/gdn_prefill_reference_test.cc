// The reference of gdn_prefill against numbers worked out by hand, and its two algorithms against
// each other.

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ops/linear_attention/gdn_prefill/contract.h"
#include "tests/unit/ops/prefill_reference.h"

namespace einkorn {
namespace {

using test::tensor_of;
using test::values_of;

TEST(GdnPrefillReference, HandComputed) {
  // K = 2, V = 1, two tokens. Decays 1/2 and 1/4.
  const Tensor q = tensor_of(kF32, {1, 2, 1, 2}, {1, 2, 3, -1});
  const Tensor k = tensor_of(kF32, {1, 2, 1, 2}, {1, 0.5, 0.25, 1});
  const Tensor v = tensor_of(kF32, {1, 2, 1, 1}, {5, -2});
  const Tensor g = tensor_of(kF32, {1, 2, 1}, {0.5, 0.25});
  const Tensor beta = tensor_of(kF32, {1, 2, 1}, {0.5, 0.25});
  const Tensor initial = tensor_of(kF32, {1, 1, 2, 1}, {2, 8});
  const Tensor o = Tensor::empty({1, 2, 1, 1}, kF64, kCpuDevice);
  const Tensor final_state = Tensor::empty({1, 1, 2, 1}, kF64, kCpuDevice);
  GdnPrefill::Args args;
  args.q = q;
  args.k = k;
  args.v = v;
  args.g = g;
  args.beta = beta;
  args.initial_state = initial;
  args.o = o;
  args.final_state = final_state;
  args.gate = GdnPrefill::Gate::kFactor;
  args.scale = 0.5;
  GdnPrefill::reference(args);
  // State (1, 4) after the decay; k . it = 3, u = (5 - 3) / 2 = 1; state (2, 4.5); o = 11 / 2.
  // State (0.5, 1.125); k . it = 1.25, u = -3.25 / 4 = -0.8125; state (0.296875, 0.3125).
  EXPECT_DOUBLE_EQ(values_of(o)[0], 5.5);
  EXPECT_DOUBLE_EQ(values_of(final_state)[0], 0.296875);
  EXPECT_DOUBLE_EQ(values_of(final_state)[1], 0.3125);
  EXPECT_DOUBLE_EQ(values_of(o)[1], (3 * 0.296875 - 0.3125) / 2);
}

TEST(GdnPrefillReference, GatesAreWhatTheyAreCalled) {
  for (const auto& [gate, want] : std::vector<std::pair<GdnPrefill::Gate, double>>{
           {GdnPrefill::Gate::kLog, std::exp(-0.5)},
           {GdnPrefill::Gate::kSoftplus, std::exp(-2 * std::log1p(std::exp(-0.5 + 0.25)))},
           {GdnPrefill::Gate::kLowerBound, std::exp(-3 / (1 + std::exp(2 * (0.5 - 0.25))))},
           {GdnPrefill::Gate::kFactor, 0.5}}) {
    test::OneTokenOfOne<GdnPrefill> one;
    const bool raw = gate == GdnPrefill::Gate::kSoftplus || gate == GdnPrefill::Gate::kLowerBound;
    one.args.gate = gate;
    one.args.lower_bound = -3;
    one.args.g = one.make({1, 1, 1}, {gate == GdnPrefill::Gate::kFactor ? 0.5 : -0.5});
    if (raw) {
      one.args.a_log = one.make({1}, {std::numbers::ln2});
      one.args.dt_bias = one.make({1}, {0.25});
    }
    // beta 0: the state fades and nothing is added.
    GdnPrefill::reference(one.args);
    EXPECT_NEAR(values_of(one.args.final_state)[0], 8 * want, 1e-6);
  }
}

TEST(GdnPrefillReference, BetasAreWhatTheyAreCalled) {
  for (const bool doubled : {false, true}) {
    test::OneTokenOfOne<GdnPrefill> one;
    one.args.negative_eigenvalues = doubled;
    one.args.beta = one.make({1, 1, 1}, {0.25});
    // Decay 1, k = 1, v = 2: the state moves from 8 towards 2 by beta.
    GdnPrefill::reference(one.args);
    EXPECT_DOUBLE_EQ(values_of(one.args.final_state)[0], 8 - 6 * (doubled ? 0.5 : 0.25));
    one.args.beta_form = GdnPrefill::Beta::kLogit;
    GdnPrefill::reference(one.args);
    const double beta = (doubled ? 2 : 1) / (1 + std::exp(-0.25));
    EXPECT_NEAR(values_of(one.args.final_state)[0], 8 - 6 * beta, 1e-12);
  }
}

TEST(GdnPrefillReference, NormAndScaleOfOne) {
  test::OneTokenOfOne<GdnPrefill> one;
  one.args.beta = one.make({1, 1, 1}, {1});
  one.args.q = one.make({1, 1, 1, 1}, {3});
  one.args.k = one.make({1, 1, 1, 1}, {4});
  one.args.l2norm = true;
  GdnPrefill::reference(one.args);
  const double k = 4 / std::sqrt(16 + 1e-6);
  const double state = 8 + k * (2 - k * 8);
  EXPECT_NEAR(values_of(one.args.final_state)[0], state, 1e-12);
  // The scale left out is K^-0.5 = 1.
  EXPECT_NEAR(values_of(one.args.o)[0], 3 / std::sqrt(9 + 1e-6) * state, 1e-12);
}

TEST(GdnPrefillReference, RecurrentAndChunkedAgree) {
  for (const std::string keys :
       {"tokens=1 heads=1 key_dim=4", "tokens=63 heads=2 key_dim=16 value_dim=8",
        "tokens=64 heads=1 key_dim=16", "tokens=65 heads=1 key_dim=16 initial_state=f32",
        "tokens=200 heads=2 value_heads=4 key_dim=8", "tokens=300 seqs=6 heads=1 key_dim=8",
        "batch=2 tokens=130 heads=1 key_dim=8 checkpoint_every=64",
        ("tokens=500 seqs=4 heads=1 key_dim=8 state_layout=vk initial_state=f32 "
         "checkpoint_every=128")}) {
    for (const std::string form :
         {"", " gate=softplus dt_bias=true", " gate=lower_bound a_log=true dt_bias=true",
          " gate=factor", " beta_form=logit negative_eigenvalues=true l2norm=true"}) {
      test::expect_algorithms_agree<GdnPrefill>(keys + " dtype=f32" + form);
    }
  }
}

TEST(GdnPrefillReference, AlgorithmsAgreeWhereEverythingIsForgotten) {
  for (const double log : {0.0, -0.02, -5.0, -40.0, -1000.0}) {
    test::expect_algorithms_agree<GdnPrefill>(
        "tokens=150 heads=1 key_dim=8 dtype=f32 gate_dtype=f32", [&](GdnPrefill::Args& args) {
          test::fill_every(args.g, [&](std::int64_t i) { return i % 3 == 0 ? log : -0.01; });
        });
  }
  // A factor of exactly 0.
  test::expect_algorithms_agree<GdnPrefill>(
      "tokens=150 heads=1 key_dim=8 dtype=f32 gate=factor", [](GdnPrefill::Args& args) {
        test::fill_every(args.g, [](std::int64_t i) { return i % 7 == 0 ? 0.0 : 0.99; });
      });
}

}  // namespace
}  // namespace einkorn
