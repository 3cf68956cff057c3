// The decode ops' references against values worked out by hand.

#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "ops/linear_attention/gdn_decode/contract.h"
#include "ops/linear_attention/kda_decode/contract.h"
#include "ops/linear_attention/lightning_decode/contract.h"
#include "tests/unit/ops/op_test.h"

namespace einkorn {
namespace {

using linear_attention::Beta;
using linear_attention::Gate;
using linear_attention::StateLayout;
using test::tensor_of;
using test::values_of;

/// One sequence, one token, one head of two keys and one value: k = (1, 2), q = (2, 1), v = 3,
/// beta 1/2, scale 1, the state (1, 2).
template <class C>
struct Small {
  typename C::Args args;
  std::vector<Tensor> storage;

  Small() {
    args.q = make({1, 1, 1, 2}, {2, 1});
    args.k = make({1, 1, 1, 2}, {1, 2});
    args.v = make({1, 1, 1, 1}, {3});
    if constexpr (requires { args.beta; }) {
      args.beta = make({1, 1, 1}, {0.5});
    }
    args.state = make({1, 1, 1, 2}, {1, 2});
    args.o = make({1, 1, 1, 1}, {-1});
    args.gate = Gate::kFactor;
    args.scale = 1;
  }

  TensorView make(std::initializer_list<std::int64_t> shape, const std::vector<double>& values) {
    storage.push_back(tensor_of(kF32, shape, values));
    return storage.back();
  }
  TensorView indices(std::initializer_list<std::int64_t> shape, const std::vector<double>& values) {
    storage.push_back(tensor_of(kI32, shape, values));
    return storage.back();
  }
  void expect(const std::vector<double>& o, const std::vector<double>& state) {
    C::reference(args);
    const auto near = [](const TensorView& tensor, const std::vector<double>& wanted) {
      const std::vector<double> got = values_of(tensor);
      ASSERT_EQ(got.size(), wanted.size());
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-6) << i;
    };
    near(args.o, o);
    near(args.state, state);
  }
};

TEST(KdaDecodeReference, ADecayForEachChannel) {
  Small<KdaDecode> one;
  one.args.g = one.make({1, 1, 1, 2}, {0.5, 0.25});
  // S' = (0.5, 0.5), k S' = 1.5, u = (3 - 1.5) / 2, S = S' + u k, o = q S.
  one.expect({4.5}, {1.25, 2});
}

TEST(GdnDecodeReference, ADecayForTheHead) {
  Small<GdnDecode> one;
  one.args.g = one.make({1, 1, 1}, {0.5});
  // S' = (0.5, 1), k S' = 2.5, u = 0.25.
  one.expect({3}, {0.75, 1.5});
}

TEST(LightningDecodeReference, NoDeltaRule) {
  Small<LightningDecode> one;
  one.args.decay = one.make({1}, {0.5});
  one.expect({14}, {3.5, 7});
}

TEST(LightningDecodeReference, TheDefaultScaleIsOneOverTheRootOfTheKeys) {
  Small<LightningDecode> one;
  one.args.decay = one.make({1}, {std::log(0.5)});
  one.args.gate = Gate::kLog;
  one.args.scale = 0;
  one.expect({14 / std::numbers::sqrt2}, {3.5, 7});
}

TEST(GdnDecodeReference, RawGates) {
  Small<GdnDecode> one;
  one.args.g = one.make({1, 1, 1}, {-1});
  one.args.dt_bias = one.make({1}, {1});
  one.args.a_log = one.make({1}, {std::numbers::ln2});
  one.args.gate = Gate::kSoftplus;
  // -2 log(1 + e^0): a decay of 1/4; S' = (0.25, 0.5), k S' = 1.25, u = 0.875.
  one.expect({1.125 * 2 + 2.25}, {1.125, 2.25});

  Small<GdnDecode> bound;
  bound.args.g = bound.make({1, 1, 1}, {0});
  bound.args.gate = Gate::kLowerBound;
  bound.args.lower_bound = -4;
  const double decay = std::exp(-2);  // -4 / (1 + e^0)
  const double u = (3 - 5 * decay) / 2;
  bound.expect({4 * decay + 4 * u}, {decay + u, 2 * decay + 2 * u});
}

TEST(GdnDecodeReference, BetasAsLogitsAndDoubled) {
  Small<GdnDecode> one;
  one.args.g = one.make({1, 1, 1}, {0.5});
  one.args.beta = one.make({1, 1, 1}, {0});
  one.args.beta_form = Beta::kLogit;
  one.args.negative_eigenvalues = true;  // 2 / (1 + e^0)
  one.expect({1 * 2 + 2}, {1, 2});
}

TEST(LightningDecodeReference, KeysOfLengthOne) {
  Small<LightningDecode> one;
  one.args.decay = one.make({1}, {0.5});
  one.args.l2norm = true;
  const double root = std::sqrt(5 + 1e-6);
  const double first = 0.5 + 3 / root;
  const double second = 1 + 6 / root;
  one.expect({(2 * first + second) / root}, {first, second});
}

TEST(LightningDecodeReference, RowsOfThePool) {
  Small<LightningDecode> one;
  one.args.decay = one.make({1}, {0.5});
  one.args.state = one.make({3, 1, 1, 2}, {8, 8, 9, 9, 1, 2});
  one.args.state_indices = one.indices({1}, {2});
  one.expect({14}, {8, 8, 9, 9, 3.5, 7});
  one.args.state_indices = one.indices({1}, {-1});
  one.args.o = one.make({1, 1, 1, 1}, {-1});
  one.expect({-1}, {8, 8, 9, 9, 3.5, 7});
}

TEST(LightningDecodeReference, ARowForEachTokenAndTheOneAccepted) {
  Small<LightningDecode> one;
  one.args.q = one.make({1, 2, 1, 2}, {2, 1, 1, 0});
  one.args.k = one.make({1, 2, 1, 2}, {1, 2, 0, 1});
  one.args.v = one.make({1, 2, 1, 1}, {3, 4});
  one.args.o = one.make({1, 2, 1, 1}, {0, 0});
  one.args.decay = one.make({1}, {0.5});
  one.args.state = one.make({3, 1, 1, 2}, {8, 8, 9, 9, 1, 2});
  one.args.state_indices = one.indices({1, 2}, {0, 2});
  one.args.accepted = one.indices({1}, {2});
  // From row 2; (3.5, 7) after the first token goes to row 0, (1.75, 7.5) to row 2.
  one.expect({14, 1.75}, {3.5, 7, 9, 9, 1.75, 7.5});
  one.args.accepted = one.indices({1}, {3});
  one.expect({14, 1.75}, {3.5, 7, 9, 9, 1.75, 7.5});
}

TEST(KdaDecodeReference, BothLayoutsAndGroupedHeads) {
  KdaDecode::Args args;
  std::vector<Tensor> storage;
  const auto make = [&](std::initializer_list<std::int64_t> shape,
                        const std::vector<double>& values) {
    storage.push_back(tensor_of(kF32, shape, values));
    return TensorView(storage.back().view());
  };
  args.q = make({1, 1, 1, 1}, {1});
  args.k = make({1, 1, 1, 1}, {1});
  args.v = make({1, 1, 2, 2}, {1, 2, 3, 4});
  args.g = make({1, 1, 2, 1}, {0.5, 1});
  args.beta = make({1, 1, 2}, {1, 0.5});
  args.gate = Gate::kFactor;
  args.o = make({1, 1, 2, 2}, {0, 0, 0, 0});
  for (const auto layout : {StateLayout::kVk, StateLayout::kKv}) {
    const bool kv = layout == StateLayout::kKv;
    args.state_layout = layout;
    args.state = kv ? make({1, 2, 1, 2}, {5, 6, 7, 8}) : make({1, 2, 2, 1}, {5, 6, 7, 8});
    KdaDecode::reference(args);
    // The first head's state becomes v, the second's the mean of it and v.
    EXPECT_EQ(values_of(args.state), (std::vector<double>{1, 2, 5, 6}));
    EXPECT_EQ(values_of(args.o), (std::vector<double>{1, 2, 5, 6}));
  }
}

}  // namespace
}  // namespace einkorn
