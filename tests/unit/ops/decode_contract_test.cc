// What the decode ops of linear attention accept and refuse.

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <einkorn/error.h>
#include <einkorn/signature.h>

#include "tests/unit/ops/decode_arguments.h"

namespace einkorn {
namespace {

using linear_attention::Beta;
using linear_attention::Gate;
using linear_attention::StateLayout;

template <class C>
class DecodeContract : public testing::Test {
 public:
  using Valid = test::DecodeArguments<C>;
  using Errors = test::MatchErrors<Valid>;
  static constexpr bool kDelta = requires(typename C::Args args) { args.g; };
};

struct Names {
  template <class C>
  static std::string GetName(int) {  // NOLINT(readability-identifier-naming): GoogleTest's
    return std::string(C::kName);
  }
};

using Contracts = testing::Types<KdaDecode, GdnDecode, LightningDecode>;
TYPED_TEST_SUITE(DecodeContract, Contracts, Names);

template <class Valid>
TensorView& tensor(Valid& valid, std::string_view wanted) {
  TensorView* found = nullptr;
  for_each_tensor(valid.args, [&](std::string_view name, Role, TensorView& view) {
    if (name == wanted) found = &view;
  });
  return *found;
}

std::vector<ArgumentInfo> tensors_of(std::vector<ArgumentInfo> all) {
  std::erase_if(all, [](const ArgumentInfo& one) { return one.kind != ArgumentKind::kTensor; });
  return all;
}

/// `view` with other strides, on memory of its own.
template <class Valid>
void restride(Valid& valid, TensorView& view, std::vector<std::int64_t> strides) {
  const TensorView room = valid.make({8 * view.numel()}, view.dtype());
  view = {room.data(), view.dtype(), view.shape(), strides, view.device()};
}

template <class Valid>
std::vector<std::int64_t> strides_of(Valid& valid, std::string_view name) {
  const auto strides = tensor(valid, name).strides();
  return {strides.begin(), strides.end()};
}

TYPED_TEST(DecodeContract, EveryCaseMatchesItsKeys) { test::expect_cases_match<TypeParam>(); }

TYPED_TEST(DecodeContract, AllArgumentsGiveTheProblem) {
  typename TestFixture::Valid valid;
  const auto problem = TypeParam::match(valid.args);
  const std::string gates =
      TestFixture::kDelta ? " gate_dtype=f32 beta_dtype=f16 gate=softplus dt_bias=true" : "";
  EXPECT_EQ(problem, test::parse<TypeParam>(
                         "seqs=2 tokens=3 heads=1 value_heads=2 key_dim=4 value_dim=6 dtype=bf16" +
                         gates + " indices=i32 per_token=true accepted=true align=4"))
      << TypeParam::print(problem);
}

TYPED_TEST(DecodeContract, PrintLeavesOutWhatParseCompletes) {
  const std::string shape =
      "seqs=3 tokens=2 heads=4 value_heads=4 key_dim=64 value_dim=64 dtype=f16";
  EXPECT_EQ(test::printed<TypeParam>("seqs=3 tokens=2 heads=4 key_dim=64 dtype=f16"), shape);
  EXPECT_EQ(test::printed<TypeParam>(shape + " indices=i64 per_token=true align=16"),
            shape + " indices=i64 per_token=true");
}

TYPED_TEST(DecodeContract, MatchAllocatesNothing) {
  typename TestFixture::Valid valid;
  test::expect_match_allocates_nothing<TypeParam>(valid.args);
}

TYPED_TEST(DecodeContract, HeadsAndTokensMayHaveStrides) {
  typename TestFixture::Valid valid;
  restride(valid, valid.args.v, {3 * 40, 40, 8, 1});
  restride(valid, valid.args.o, {3 * 24, 24, 12, 1});
  EXPECT_NO_THROW(static_cast<void>(TypeParam::match(valid.args)));
  restride(valid, valid.args.q, {3 * 8, 8, 4, 1});
  EXPECT_NO_THROW(static_cast<void>(TypeParam::match(valid.args)));
}

TYPED_TEST(DecodeContract, StatesMayBeFewerThanIndicesAndMoreThanSequences) {
  typename TestFixture::Valid valid;
  valid.args.state = valid.make({1, 2, 6, 4}, kF32);
  EXPECT_NO_THROW(static_cast<void>(TypeParam::match(valid.args)));
  valid.args.state_indices = valid.args.accepted = {};
  valid.args.state = valid.make({2, 2, 6, 4}, kBF16);
  EXPECT_EQ(TypeParam::match(valid.args).state_dtype, kBF16);
  valid.args.state_layout = StateLayout::kKv;
  valid.args.state = valid.make({5, 2, 4, 6}, kBF16);
  EXPECT_EQ(TypeParam::match(valid.args).state_layout, StateLayout::kKv);
}

TYPED_TEST(DecodeContract, OneTensorIsWrong) {
  typename TestFixture::Errors errors("boundary");
  using Args = typename TypeParam::Args;
  for (const ArgumentInfo& info : tensors_of(describe_arguments<Args>())) {
    const std::string name(info.name);
    if (!info.optional) {
      errors.add(name + " missing", [&](auto& valid, Args&) { tensor(valid, name) = {}; });
    }
    errors.add(name + " dtype", [&](auto& valid, Args&) {
      TensorView& view = tensor(valid, name);
      valid.storage.push_back(Tensor::empty(view.shape(), kU8, kCpuDevice));
      view = valid.storage.back();
    });
    if (name != "q") {
      errors.add(name + " device", [&](auto& valid, Args&) {
        TensorView& view = tensor(valid, name);
        view = {view.data(), view.dtype(), view.shape(), cuda_device(1)};
      });
    }
    errors.add(name + " rank", [&](auto& valid, Args&) {
      TensorView& view = tensor(valid, name);
      view = valid.make({}, view.dtype());
    });
    errors.add(name + " strides doubled", [&](auto& valid, Args&) {
      auto strides = strides_of(valid, name);
      for (std::int64_t& stride : strides) stride *= 2;
      restride(valid, tensor(valid, name), strides);
    });
  }
}

TYPED_TEST(DecodeContract, Sizes) {
  using Args = typename TypeParam::Args;
  typename TestFixture::Errors errors("sizes");
  errors.add("k of other heads", [](auto& v, Args& a) { a.k = v.make({2, 3, 2, 4}, kBF16); });
  errors.add("v of heads that q's do not divide", [](auto& v, Args& a) {
    a.q = v.make({2, 3, 2, 4}, kBF16);
    a.k = v.make({2, 3, 2, 4}, kBF16);
    a.v = v.make({2, 3, 3, 6}, kBF16);
  });
  errors.add("no tokens", [](auto& v, Args& a) { a.q = v.make({2, 0, 1, 4}, kBF16); });
  errors.add("a head of 257", [](auto& v, Args& a) { a.q = v.make({2, 3, 1, 257}, kBF16); });
  errors.add("state of the other layout",
             [](auto&, Args& a) { a.state_layout = StateLayout::kKv; });
  errors.add("state of other heads",
             [](auto& v, Args& a) { a.state = v.make({7, 1, 6, 4}, kF32); });
  errors.add("state in f16", [](auto& v, Args& a) { a.state = v.make({7, 2, 6, 4}, kF16); });
  errors.add("fewer states than sequences", [](auto& v, Args& a) {
    a.state_indices = a.accepted = {};
    a.state = v.make({1, 2, 6, 4}, kF32);
  });
  errors.add("indices of other sequences",
             [](auto& v, Args& a) { a.state_indices = v.make({3, 3}, kI32); });
  errors.add("indices of other tokens",
             [](auto& v, Args& a) { a.state_indices = v.make({2, 4}, kI32); });
  errors.add("accepted without indices of tokens",
             [](auto& v, Args& a) { a.state_indices = v.make({2}, kI32); });
  errors.add("accepted without indices", [](auto&, Args& a) { a.state_indices = {}; });
  errors.add("o of q's shape", [](auto& v, Args& a) { a.o = v.make({2, 3, 1, 6}, kBF16); });
}

TYPED_TEST(DecodeContract, Strides) {
  using Args = typename TypeParam::Args;
  typename TestFixture::Errors errors("strides");
  std::vector<const char*> of_tokens = {"q", "k", "v", "o"};
  if (TestFixture::kDelta) of_tokens.insert(of_tokens.end(), {"g", "beta"});
  for (const char* name : of_tokens) {
    errors.add(std::string(name) + " tokens of two strides", [&](auto& valid, Args&) {
      auto strides = strides_of(valid, name);
      strides[0] += strides[1];
      restride(valid, tensor(valid, name), strides);
    });
  }
  for (const char* name : {"o", "state"}) {
    errors.add(std::string(name) + " broadcast", [&](auto& valid, Args&) {
      auto strides = strides_of(valid, name);
      strides[0] = strides[1] = 0;
      restride(valid, tensor(valid, name), strides);
    });
  }
}

/// Both on one piece of memory, `written` 8 bytes behind the begin of `other`.
template <class Valid>
void overlap(Valid& valid, TensorView& written, TensorView& other) {
  const TensorView room = valid.make({256}, kI64);
  const auto at = [&](const TensorView& view, int bytes) {
    return TensorView(room.data_as<char>() + bytes, view.dtype(), view.shape(), view.device());
  };
  other = at(other, 0);
  written = at(written, other.nbytes() > 8 ? 8 : 4);
}

TYPED_TEST(DecodeContract, Overlaps) {
  using Args = typename TypeParam::Args;
  typename TestFixture::Errors errors("overlap");
  for (const char* written : {"state", "o"}) {
    for (const ArgumentInfo& other : tensors_of(describe_arguments<Args>())) {
      if (other.role == Role::kOutput || other.name == written) continue;
      errors.add(std::string(written) + " over " + std::string(other.name),
                 [&](auto& valid, Args&) {
                   overlap(valid, tensor(valid, written), tensor(valid, other.name));
                 });
    }
  }
}

TYPED_TEST(DecodeContract, Scalars) {
  using Args = typename TypeParam::Args;
  typename TestFixture::Errors errors("scalars");
  errors.add("scale infinite", [](auto&, Args& a) { a.scale = INFINITY; });
  errors.add("scale beyond f32", [](auto&, Args& a) { a.scale = 1e300; });
  errors.add("no such gate", [](auto&, Args& a) { a.gate = static_cast<Gate>(9); });
  errors.add("no such layout",
             [](auto&, Args& a) { a.state_layout = static_cast<StateLayout>(2); });
  if constexpr (TestFixture::kDelta) {
    errors.add("no such beta", [](auto&, Args& a) { a.beta_form = static_cast<Beta>(2); });
    errors.add("lower_bound 0", [](auto&, Args& a) { a.lower_bound = 0; });
    errors.add("lower_bound -5.5", [](auto&, Args& a) { a.lower_bound = -5.5; });
    errors.add("lower_bound no number", [](auto&, Args& a) { a.lower_bound = std::nan(""); });
    errors.add("softplus without a_log", [](auto&, Args& a) { a.a_log = {}; });
    errors.add("log with a_log", [](auto&, Args& a) {
      a.gate = Gate::kLog;
      a.dt_bias = {};
    });
    errors.add("factor with dt_bias", [](auto&, Args& a) {
      a.gate = Gate::kFactor;
      a.a_log = {};
    });
  } else {
    errors.add("softplus", [](auto&, Args& a) { a.gate = Gate::kSoftplus; });
  }
}

TYPED_TEST(DecodeContract, LowerBoundTakesWhatItIsGiven) {
  if constexpr (TestFixture::kDelta) {
    typename TestFixture::Valid valid;
    valid.args.gate = Gate::kLowerBound;
    EXPECT_NO_THROW(static_cast<void>(TypeParam::match(valid.args)));
    valid.args.a_log = valid.args.dt_bias = {};
    valid.args.lower_bound = -5;
    EXPECT_NO_THROW(static_cast<void>(TypeParam::match(valid.args)));
  }
}

TYPED_TEST(DecodeContract, ParseErrors) {
  if constexpr (TestFixture::kDelta) {
    test::expect_parse_errors<TypeParam>(
        {"dtype=f64", "gate_dtype=i8", "beta_dtype=f64", "state_dtype=f16", "indices=u8",
         "heads=2 value_heads=3", "per_token=true", "indices=i32 accepted=true",
         "gate=softplus a_log=false", "gate=log a_log=true", "gate=factor dt_bias=true", "align=3",
         "align=1", "align=16 key_dim=12", "key_dim=257", "tokens=0", "seqs=2147483649",
         "heads=65537", "gate=raw"});
  } else {
    test::expect_parse_errors<TypeParam>(
        {"dtype=f64", "state_dtype=f16", "indices=u8", "heads=2 value_heads=3", "per_token=true",
         "indices=i32 accepted=true", "gate=softplus", "align=3", "align=1", "align=16 key_dim=12",
         "key_dim=257", "tokens=0", "seqs=2147483649", "heads=65537", "gate_dtype=bf16"});
  }
}

TYPED_TEST(DecodeContract, WorkCountsStatesReadAndWritten) {
  const auto bytes = [](std::string_view keys) {
    return TypeParam::work(test::parse<TypeParam>(keys)).min_bytes;
  };
  const std::string keys = "seqs=8 tokens=4 heads=2 key_dim=128 indices=i32";
  constexpr double kState = 2 * 128 * 128 * 4;
  // A state more for each token but one that is stored.
  EXPECT_EQ(bytes(keys + " per_token=true") - bytes(keys), 8 * 3 * kState);
  EXPECT_EQ(bytes(keys) - bytes(keys + " state_dtype=bf16"), 8 * 2 * kState / 2);
  EXPECT_GT(bytes(keys), 8 * 2 * kState);
  EXPECT_EQ(bytes("seqs=0"), 0);
}

}  // namespace
}  // namespace einkorn
