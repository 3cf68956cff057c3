// The decode ops of linear attention beyond their cases: rows of the pool that are none, tokens one
// by one and together, sequences in another order, both layouts, gates at their ends, slices.

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "ops/linear_attention/gdn_decode/contract.h"
#include "ops/linear_attention/kda_decode/contract.h"
#include "ops/linear_attention/lightning_decode/contract.h"
#include "src/core/float.h"
#include "src/measure/memory.h"
#include "tests/ops/support.h"

namespace einkorn::test {
namespace {

constexpr std::string_view kShape = "heads=2 value_heads=4 key_dim=64 value_dim=64 dtype=bf16";

/// `count` blocks of a contiguous tensor's first dimension, from one on.
TensorView blocks(const TensorView& tensor, std::int64_t first, std::int64_t count = 1) {
  return tensor.slice(0, first, first + count);
}

/// Whether the bytes of two contiguous tensors are the same.
bool same(const TensorView& a, const TensorView& b) {
  return std::memcmp(a.data(), b.data(), a.nbytes()) == 0;
}

void fill(const TensorView& tensor, int byte) { std::memset(tensor.data(), byte, tensor.nbytes()); }

void set_index(const TensorView& indices, std::int64_t i, std::int64_t row) {
  if (indices.dtype() == kI32) {
    indices.data_as<std::int32_t>()[i] = static_cast<std::int32_t>(row);
  } else {
    indices.data_as<std::int64_t>()[i] = row;
  }
}

template <class C>
class Decode : public testing::Test {
 public:
  using Args = typename C::Args;
  static constexpr bool kDelta = requires(Args args) { args.g; };

  static const OpEntry& entry() {
    static const auto kView = registry();
    return kView->find(C::kName);
  }
  static CaseData data(std::string_view keys) {
    return make_data(entry(), fmt::format("{} {}", keys, kShape));
  }
  static Args& args(const CaseData& data) { return args_of<C>(data); }
  static TensorView& gates(Args& args) {
    if constexpr (kDelta) {
      return args.g;
    } else {
      return args.decay;
    }
  }

  using Edit = std::function<void(Args&)>;

  /// What calls leave of a case, one behind the other in the same memory; each edits a copy of the
  /// arguments first.
  static CaseData run(const CaseData& start, Device device, std::string_view variant,
                      const std::vector<Edit>& calls = {[](Args&) {}}) {
    const CaseData there = measure::clone_to(*entry().op, start, device);
    // One stream for all: on Hopper a kernel then begins before the one before it has ended.
    std::optional<cuda::OwnedStream> stream;
    if (device.kind == DeviceKind::kCuda) stream.emplace(device.index);
    for (const Edit& edit : calls) {
      Args edited = args(there);
      edit(edited);
      entry().op->call(&edited, stream ? stream->get() : Stream::cpu(), variant);
    }
    if (stream) stream->synchronize();
    return measure::clone_to(*entry().op, there, kCpuDevice);
  }

  /// Calls f(device, variant) for all that serve the case's problem.
  template <class F>
  static void for_each_variant(const CaseData& data, F&& f) {
    const AnyProblem problem = entry().op->match(data.args.get());
    for (const Device device : devices()) {
      int served = 0;
      for (const Variant* variant : entry().variants) {
        if (refusal_of(*variant, problem.get(), device_info(device))) continue;
        SCOPED_TRACE(fmt::format("{} on {}", variant->id(), to_string(device)));
        f(device, variant->name());
        ++served;
      }
      EXPECT_GT(served, 0) << to_string(device);
    }
  }
};

struct Names {
  template <class C>
  static std::string GetName(int) {  // NOLINT(readability-identifier-naming): GoogleTest's
    return std::string(C::kName);
  }
};

using Contracts = testing::Types<KdaDecode, GdnDecode, LightningDecode>;
TYPED_TEST_SUITE(Decode, Contracts, Names);

// A row that is none leaves its sequence alone; the others have the bits they would have without
// it, whatever lies in rows that nobody names.
TYPED_TEST(Decode, SequencesWithoutARowAreLeftAlone) {
  for (const std::string layout : {"vk", "kv"}) {
    for (const std::string index : {"i32", "i64"}) {
      const CaseData all =
          this->data("seqs=5 tokens=2 state_layout=" + layout + " indices=" + index);
      CaseData some = measure::clone_to(*this->entry().op, all, kCpuDevice);
      auto& args = this->args(some);
      const auto row_of = [&](std::int64_t seq) {
        const TensorView& indices = this->args(all).state_indices;
        return static_cast<std::int64_t>(load_as_double(indices, seq));
      };
      set_index(args.state_indices, 1, -1);
      set_index(args.state_indices, 3, args.state.size(0));
      for (const std::int64_t seq : {1, 3}) fill(blocks(args.state, row_of(seq)), 0xff);
      fill(args.o, 0x55);
      this->for_each_variant(some, [&](Device device, std::string_view variant) {
        const CaseData wanted = this->run(all, device, variant);
        const CaseData got = this->run(some, device, variant);
        for (std::int64_t seq = 0; seq < 5; ++seq) {
          const CaseData& like = seq % 2 == 1 ? some : wanted;
          EXPECT_TRUE(same(blocks(this->args(got).o, seq), blocks(this->args(like).o, seq))) << seq;
          EXPECT_TRUE(same(blocks(this->args(got).state, row_of(seq)),
                           blocks(this->args(like).state, row_of(seq))))
              << seq;
        }
        for (std::int64_t row = 0; row < args.state.size(0); ++row) {
          bool named = false;
          for (const std::int64_t seq : {0, 2, 4}) named |= row_of(seq) == row;
          if (named) continue;
          EXPECT_TRUE(same(blocks(this->args(got).state, row), blocks(args.state, row))) << row;
        }
      });
    }
  }
}

TYPED_TEST(Decode, TokensWithoutARowAreNotStored) {
  const CaseData all = this->data("seqs=3 tokens=3 indices=i32 per_token=true accepted=true");
  for (std::int64_t seq = 0; seq < 3; ++seq) {
    this->args(all).accepted.template data_as<std::int32_t>()[seq] = 1;
  }
  CaseData some = measure::clone_to(*this->entry().op, all, kCpuDevice);
  auto& args = this->args(some);
  const auto row_of = [&](std::int64_t i) {
    return static_cast<std::int64_t>(load_as_double(this->args(all).state_indices, i));
  };
  set_index(args.state_indices, 1, -1);  // sequence 0 does not keep the state after token 1
  set_index(args.state_indices, 3, args.state.size(0));  // nothing to go on from for sequence 1
  // Sequence 2 goes on from a token that it does not have.
  args.accepted.template data_as<std::int32_t>()[2] = 4;
  fill(args.o, 0x55);
  this->for_each_variant(some, [&](Device device, std::string_view variant) {
    const CaseData wanted = this->run(all, device, variant);
    const CaseData got = this->run(some, device, variant);
    EXPECT_TRUE(same(blocks(this->args(got).o, 0), blocks(this->args(wanted).o, 0)));
    EXPECT_TRUE(same(blocks(this->args(got).o, 1, 2), blocks(args.o, 1, 2)));
    for (std::int64_t i = 0; i < 9; ++i) {
      const CaseData& like = i == 0 || i == 2 ? wanted : some;
      EXPECT_TRUE(
          same(blocks(this->args(got).state, row_of(i)), blocks(this->args(like).state, row_of(i))))
          << i;
    }
    args.accepted.template data_as<std::int32_t>()[2] = 0;
    const CaseData none = this->run(some, device, variant);
    EXPECT_TRUE(same(blocks(this->args(none).o, 1, 2), blocks(args.o, 1, 2)));
    args.accepted.template data_as<std::int32_t>()[2] = 4;
  });
}

/// Leaves a call some of its tokens, or of its sequences: `dim` 1 or 0.
template <class Args>
void keep(Args& args, int dim, std::int64_t first, std::int64_t count) {
  for_each_tensor(args, [&](std::string_view name, Role, TensorView& view) {
    const bool has_tokens =
        name == "q" || name == "k" || name == "v" || name == "g" || name == "beta" || name == "o";
    if (view.defined() && has_tokens) view = view.slice(dim, first, first + count);
  });
}

TYPED_TEST(Decode, TokensOneByOneAreTokensTogether) {
  for (const std::string layout : {"vk", "kv"}) {
    const CaseData start = this->data("seqs=3 tokens=5 l2norm=true state_layout=" + layout);
    std::vector<typename TestFixture::Edit> calls;
    calls.reserve(5);
    for (std::int64_t token = 0; token < 5; ++token) {
      calls.push_back([token](auto& args) { keep(args, 1, token, 1); });
    }
    this->for_each_variant(start, [&](Device device, std::string_view variant) {
      // A state in f32 is what variants have between tokens, too; the reference has f64 there.
      if (variant == this->entry().op->reference_variant->name()) return;
      const CaseData together = this->run(start, device, variant);
      const CaseData apart = this->run(start, device, variant, calls);
      EXPECT_TRUE(same(this->args(apart).o, this->args(together).o));
      EXPECT_TRUE(same(this->args(apart).state, this->args(together).state));
    });
  }
}

// Speculative decoding: four tokens are tried, some are kept, and the next call goes on from the
// state after the last of these.
TYPED_TEST(Decode, CallsGoOnFromTheAcceptedToken) {
  using Arguments = typename TypeParam::Args;
  CaseData start =
      this->data("seqs=2 tokens=4 l2norm=true indices=i64 per_token=true accepted=true");
  auto& args = this->args(start);
  // Of both calls, the second's behind the first's.
  start.storage.push_back(Tensor::empty({4}, kI32, kCpuDevice));
  args.accepted = start.storage.back().view().slice(0, 0, 2);
  constexpr std::int32_t kAccepted[] = {1, 1, 3, 2};
  std::memcpy(args.accepted.data(), kAccepted, sizeof(kAccepted));
  const auto second = [](Arguments& call) {
    call.accepted = TensorView(call.accepted.template data_as<std::int32_t>() + 2, kI32, {2},
                               call.accepted.device());
  };
  const auto row_of = [&](std::int64_t seq, std::int64_t token) {
    return static_cast<std::int64_t>(load_as_double(args.state_indices, seq * 4 + token));
  };
  this->for_each_variant(start, [&](Device device, std::string_view variant) {
    const CaseData got = this->run(start, device, variant, {[](Arguments&) {}, second});
    for (const std::int64_t seq : {0, 1}) {
      // The same by plain calls: of the tokens that were kept, then of all four.
      const auto plain = [&](Arguments& call) {
        call.state = blocks(call.state, row_of(seq, 0));
        call.state_indices = call.accepted = {};
        keep(call, 0, seq, 1);
      };
      const CaseData wanted = this->run(start, device, variant,
                                        {[&](Arguments& call) {
                                           plain(call);
                                           keep(call, 1, 0, kAccepted[2 + seq]);
                                         },
                                         plain});
      EXPECT_TRUE(same(blocks(this->args(got).o, seq), blocks(this->args(wanted).o, seq))) << seq;
      EXPECT_TRUE(same(blocks(this->args(got).state, row_of(seq, 3)),
                       blocks(this->args(wanted).state, row_of(seq, 0))))
          << seq;
    }
  });
}

TYPED_TEST(Decode, StatesPast2To31Elements) {
  if (test_level() < 3) GTEST_SKIP() << "large: runs with EINKORN_TEST_LEVEL=3";
  std::string reason;
  if (!cuda::available(&reason)) GTEST_SKIP() << reason;
  const Device device = cuda_device(0);
  for (const std::string layout : {"vk", "kv"}) {
    const CaseData small = this->data("seqs=3 tokens=1 indices=i64 state_layout=" + layout);
    const auto row_of = [&](std::int64_t seq) {
      return static_cast<std::int64_t>(load_as_double(this->args(small).state_indices, seq));
    };
    // Of 2^14 elements a state: begins before, at and behind element 2^31.
    const std::int64_t rows = (std::int64_t{1} << 17) + 2;
    const std::int64_t at[] = {0, rows - 2, rows - 1};
    const Tensor pool = Tensor::empty({rows, 4, 64, 64}, kF32, device);
    CaseData large = measure::clone_to(*this->entry().op, small, kCpuDevice);
    for (std::int64_t seq = 0; seq < 3; ++seq) {
      copy(blocks(this->args(small).state, row_of(seq)), blocks(pool.view(), at[seq]));
      set_index(this->args(large).state_indices, seq, at[seq]);
    }
    const CaseData there = measure::clone_to(*this->entry().op, large, device);
    auto args = this->args(there);
    args.state = pool.view();
    const cuda::OwnedStream stream(device.index);
    this->entry().op->call(&args, stream.get(), {});
    stream.synchronize();
    const CaseData wanted = this->run(small, device, {});
    const CaseData got = measure::clone_to(*this->entry().op, there, kCpuDevice);
    EXPECT_TRUE(same(this->args(got).o, this->args(wanted).o));
    for (std::int64_t seq = 0; seq < 3; ++seq) {
      const Tensor state = Tensor::empty({1, 4, 64, 64}, kF32, kCpuDevice);
      copy(blocks(pool.view(), at[seq]), state.view());
      EXPECT_TRUE(same(state, blocks(this->args(wanted).state, row_of(seq)))) << seq;
    }
  }
}

TYPED_TEST(Decode, SequencesInAnotherOrderHaveTheSameBits) {
  const CaseData start = this->data("seqs=4 tokens=2 l2norm=true indices=i32");
  CaseData turned = measure::clone_to(*this->entry().op, start, kCpuDevice);
  const auto reverse = [&](auto member) {
    const TensorView& from = this->args(start).*member;
    const TensorView& to = this->args(turned).*member;
    for (std::int64_t seq = 0; seq < 4; ++seq) {
      std::memcpy(blocks(to, seq).data(), blocks(from, 3 - seq).data(), blocks(to, seq).nbytes());
    }
  };
  using Arguments = typename TypeParam::Args;
  for (const auto member :
       {&Arguments::q, &Arguments::k, &Arguments::v, &Arguments::state_indices}) {
    reverse(member);
  }
  if constexpr (TestFixture::kDelta) {
    reverse(&Arguments::g);
    reverse(&Arguments::beta);
  }
  this->for_each_variant(start, [&](Device device, std::string_view variant) {
    const CaseData one = this->run(start, device, variant);
    const CaseData other = this->run(turned, device, variant);
    for (std::int64_t seq = 0; seq < 4; ++seq) {
      EXPECT_TRUE(same(blocks(this->args(one).o, seq), blocks(this->args(other).o, 3 - seq)));
    }
    EXPECT_TRUE(same(this->args(one).state, this->args(other).state));
  });
}

TYPED_TEST(Decode, GatesAtTheirEnds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<std::string, std::vector<double>>> forms = {
      {"log", {0, -40, -kInfinity, -0.01, -8}},
      {"factor", {1, 0, 0.5, 1e-6, 0.999}},
      {"softplus", {-40, 40, 0, -8, 8}},
      {"lower_bound", {-100, 100, 0, -8, 8}}};
  for (const auto& [form, values] : forms) {
    const bool raw = form == "softplus" || form == "lower_bound";
    if (raw && !TestFixture::kDelta) continue;
    for (const std::string layout : {"vk", "kv"}) {
      const std::string terms = raw ? " a_log=true dt_bias=true" : "";
      const std::string keys =
          "seqs=3 tokens=2 l2norm=true gate=" + form + terms + " state_layout=" + layout;
      const CaseData data = this->data(keys);
      const TensorView& gates = this->gates(this->args(data));
      for (std::int64_t i = 0; i < gates.numel(); ++i) {
        store_from_double(gates, i, values[static_cast<std::size_t>(i) % values.size()]);
      }
      if constexpr (TestFixture::kDelta) {
        const TensorView& bias = this->args(data).dt_bias;
        for (std::int64_t i = 0; raw && i < bias.numel(); ++i) {
          store_from_double(bias, i, i % 3 == 0 ? 8 : i % 3 == 1 ? -8 : 0.5);
        }
      }
      expect_pass(this->entry(), data, keys);
    }
  }
}

// q, k, v and o where a projection of all of them leaves them: heads without gaps, tokens with.
TYPED_TEST(Decode, SlicesOfOneProjection) {
  for (const std::string layout : {"vk", "kv"}) {
    CaseData data = this->data("seqs=3 tokens=2 state_layout=" + layout);
    auto& args = this->args(data);
    data.storage.push_back(Tensor::empty({3, 2, 12, 64}, kBF16, kCpuDevice));
    const TensorView all = data.storage.back();
    for (std::int64_t i = 0; i < all.numel(); ++i) {
      store_from_double(all, i, std::sin(static_cast<double>(i)) / 8);
    }
    args.q = all.slice(2, 0, 2);
    args.k = all.slice(2, 2, 4);
    args.v = all.slice(2, 4, 8);
    args.o = all.slice(2, 8, 12);
    expect_pass(this->entry(), data, "slices of one projection, " + layout);
    // Every second head: a gap between heads, too.
    data.storage.push_back(Tensor::empty({3, 2, 8, 64}, kBF16, kCpuDevice));
    const TensorView room = data.storage.back();
    const std::int64_t strides[] = {1024, 512, 128, 1};
    args.o = TensorView(room.data(), kBF16, args.o.shape(), strides, kCpuDevice);
    expect_pass(this->entry(), data, "heads with gaps, " + layout);
  }
}

TYPED_TEST(Decode, ScalarsReachTheVariants) {
  CaseData data = this->data("seqs=2 tokens=1 gate=log");
  this->args(data).scale = -0.25;
  expect_pass(this->entry(), data, "scale -0.25");
  if constexpr (TestFixture::kDelta) {
    data = this->data("seqs=2 tokens=1 gate=lower_bound negative_eigenvalues=true l2norm=true");
    this->args(data).lower_bound = -1.5;
    expect_pass(this->entry(), data, "lower_bound -1.5");
  }
}

TYPED_TEST(Decode, WrongCallsAreRefusedAndNothingWritten) {
  const CaseData data = this->data("seqs=4 tokens=1 indices=i32");
  auto& args = this->args(data);
  const auto good = args;
  const std::string name(TypeParam::kName);
  for (const Device device : devices()) {
    args = good;
    args.o = args.v;
    expect_refused(this->entry(), data, device, ErrorKind::kValue, name + ": o");
    args = good;
    args.state = blocks(args.state, 0, 3);
    args.state_indices = {};
    expect_refused(this->entry(), data, device, ErrorKind::kValue, name + ": state size(0)");
  }
  args = good;
}

TYPED_TEST(Decode, NoSequencesLaunchNothing) {
  for (const Device device : devices()) {
    expect_nothing_launched(this->entry(), "seqs=0 tokens=1 heads=2 key_dim=128 dtype=bf16",
                            device);
  }
}

TYPED_TEST(Decode, TheSizesOfModelsAreServed) {
  for (const std::string layout : {" state_layout=vk", " state_layout=kv"}) {
    for (const std::string state : {" state_dtype=f32", " state_dtype=bf16"}) {
      for (const std::string keys : {"64", "96", "128", "192", "256"}) {
        for (const std::string values : {"64", "96", "128", "192", "256"}) {
          expect_served(this->entry(), "seqs=7 tokens=1 heads=4 key_dim=" + keys +
                                           " value_dim=" + values + " dtype=bf16" + layout + state);
        }
      }
    }
  }
  // The largest that the contract takes: 2^31 sequences, or as many heads, 1 to 65536, and tokens.
  expect_served(this->entry(), "seqs=1 tokens=1024 heads=65536 key_dim=128 dtype=bf16");
  expect_served(this->entry(), "seqs=16777216 tokens=1 heads=1 key_dim=128 dtype=bf16");
  EXPECT_EQ(TypeParam::parse(split_key_values("seqs=2147483648 heads=1 tokens=1")).seqs,
            std::int64_t{1} << 31);
}

}  // namespace
}  // namespace einkorn::test
