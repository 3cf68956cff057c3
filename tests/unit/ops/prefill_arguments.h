#pragma once

// Arguments of the prefill ops that match, every optional one among them.

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "ops/linear_attention/split.h"
#include "tests/unit/ops/contract_test.h"

namespace einkorn::test {

/// Two packed sequences of 64 tokens, 2 heads of q and k, 4 value heads, K = 8, V = 4; with a delta
/// rule, a raw gate.
template <class C>
struct PrefillArguments : Arguments<C> {
  static constexpr std::int64_t kTokens = 128;
  static constexpr bool kDelta = C::kKind.delta;

  PrefillArguments() {
    auto& all = this->args;
    all.q = this->make({1, kTokens, 2, 8}, kBF16);
    all.k = this->make({1, kTokens, 2, 8}, kBF16);
    all.v = this->make({1, kTokens, 4, 4}, kBF16);
    all.o = this->make({1, kTokens, 4, 4}, kBF16);
    all.initial_state = this->make({2, 4, 8, 4}, kF32);
    all.final_state = this->make({2, 4, 8, 4}, kF32);
    all.checkpoints = this->make({2, 4, 8, 4}, kF32);
    all.checkpoint_every = 64;
    pack({0, 64, kTokens}, kI32);
    if constexpr (kDelta) {
      all.g = C::kKind.channel_gate ? this->make({1, kTokens, 4, 8}, kF32)
                                    : this->make({1, kTokens, 4}, kF32);
      all.beta = this->make({1, kTokens, 4}, kF16);
      all.a_log = this->make({4}, kF32);
      all.dt_bias = C::kKind.channel_gate ? this->make({4, 8}, kF32) : this->make({4}, kF32);
      all.gate = C::Gate::kSoftplus;
    } else {
      all.decay = this->make({4}, kF32);
    }
  }

  TensorView numbers(const std::vector<std::int64_t>& values, DType dtype) {
    const TensorView out = this->make({static_cast<std::int64_t>(values.size())}, dtype);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (dtype == kI32) {
        out.data_as<std::int32_t>()[i] = static_cast<std::int32_t>(values[i]);
      } else {
        out.data_as<std::int64_t>()[i] = values[i];
      }
    }
    return out;
  }

  /// Sets the bounds, on the CPU twice.
  void pack(const std::vector<std::int64_t>& bounds, DType dtype) {
    this->args.cu_seqlens = numbers(bounds, dtype);
    this->args.cu_seqlens_cpu = numbers(bounds, kI64);
  }

  /// Two rows of the batch in place of packed sequences.
  void unpack() {
    auto& all = this->args;
    all.cu_seqlens = all.cu_seqlens_cpu = {};
    const auto rows = [](TensorView& view) {
      std::vector<std::int64_t> shape(view.shape().begin(), view.shape().end());
      shape[0] = 2;
      shape[1] = kTokens / 2;
      view = {view.data(), view.dtype(), shape, view.device()};
    };
    for (TensorView* view : {&all.q, &all.k, &all.v, &all.o}) rows(*view);
    if constexpr (kDelta) {
      rows(all.g);
      rows(all.beta);
    }
  }

  /// Without what only raw gates use.
  void plain_gate() {
    if constexpr (kDelta) this->args.a_log = this->args.dt_bias = {};
    this->args.gate = C::Gate::kLog;
  }
};

}  // namespace einkorn::test
