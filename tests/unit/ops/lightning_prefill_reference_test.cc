// The reference of lightning_prefill against numbers worked out by hand, and its two algorithms
// against each other.

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ops/linear_attention/lightning_prefill/contract.h"
#include "tests/unit/ops/prefill_reference.h"

namespace einkorn {
namespace {

using test::tensor_of;
using test::values_of;

TEST(LightningPrefillReference, HandComputed) {
  // K = 2, V = 1, two tokens, decay 1/2.
  const Tensor q = tensor_of(kF32, {1, 2, 1, 2}, {1, 2, 3, -1});
  const Tensor k = tensor_of(kF32, {1, 2, 1, 2}, {1, 0.5, 0.25, 1});
  const Tensor v = tensor_of(kF32, {1, 2, 1, 1}, {4, -2});
  const Tensor decay = tensor_of(kF32, {1}, {0.5});
  const Tensor initial = tensor_of(kF32, {1, 1, 2, 1}, {2, 8});
  const Tensor o = Tensor::empty({1, 2, 1, 1}, kF64, kCpuDevice);
  const Tensor final_state = Tensor::empty({1, 1, 2, 1}, kF64, kCpuDevice);
  LightningPrefill::Args args;
  args.q = q;
  args.k = k;
  args.v = v;
  args.decay = decay;
  args.initial_state = initial;
  args.o = o;
  args.final_state = final_state;
  args.gate = LightningPrefill::Gate::kFactor;
  args.scale = 0.5;
  LightningPrefill::reference(args);
  // States (1 + 4, 4 + 2), then (2.5 - 0.5, 3 - 2).
  EXPECT_DOUBLE_EQ(values_of(o)[0], (5 + 2 * 6) / 2.0);
  EXPECT_DOUBLE_EQ(values_of(o)[1], (3 * 2 - 1) / 2.0);
  EXPECT_DOUBLE_EQ(values_of(final_state)[0], 2);
  EXPECT_DOUBLE_EQ(values_of(final_state)[1], 1);
}

TEST(LightningPrefillReference, DecayNormAndScaleOfOne) {
  test::OneTokenOfOne<LightningPrefill> one;
  one.args.decay = one.make({1}, {-0.5});
  one.args.q = one.make({1, 1, 1, 1}, {3});
  one.args.k = one.make({1, 1, 1, 1}, {4});
  LightningPrefill::reference(one.args);
  const double state = 8 * std::exp(-0.5) + 4 * 2;
  EXPECT_NEAR(values_of(one.args.final_state)[0], state, 1e-12);
  EXPECT_NEAR(values_of(one.args.o)[0], 3 * state, 1e-12);
  one.args.l2norm = true;
  LightningPrefill::reference(one.args);
  const double normed = 8 * std::exp(-0.5) + 4 / std::sqrt(16 + 1e-6) * 2;
  EXPECT_NEAR(values_of(one.args.o)[0], 3 / std::sqrt(9 + 1e-6) * normed, 1e-12);
}

TEST(LightningPrefillReference, RecurrentAndChunkedAgree) {
  for (const std::string keys :
       {"tokens=1 heads=1 key_dim=4", "tokens=63 heads=2 key_dim=16 value_dim=8",
        "tokens=64 heads=1 key_dim=16", "tokens=65 heads=1 key_dim=16 initial_state=f32",
        "tokens=200 heads=2 value_heads=4 key_dim=8", "tokens=300 seqs=6 heads=1 key_dim=8",
        "batch=2 tokens=130 heads=1 key_dim=8 checkpoint_every=64",
        ("tokens=500 seqs=4 heads=1 key_dim=8 state_layout=vk initial_state=f32 "
         "checkpoint_every=128")}) {
    for (const std::string form : {"", " gate=factor", " l2norm=true"}) {
      test::expect_algorithms_agree<LightningPrefill>(keys + " dtype=f32" + form);
    }
  }
}

TEST(LightningPrefillReference, AlgorithmsAgreeWhereEverythingIsForgotten) {
  for (const double factor : {0.0, 1e-30, 1.0}) {
    test::expect_algorithms_agree<LightningPrefill>(
        "tokens=150 heads=2 key_dim=8 dtype=f32 gate=factor", [&](LightningPrefill::Args& args) {
          test::fill_every(args.decay, [&](std::int64_t) { return factor; });
        });
  }
}

}  // namespace
}  // namespace einkorn
