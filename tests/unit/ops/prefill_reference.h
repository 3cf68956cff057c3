#pragma once

// What the tests of the prefill ops' references share.

#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "ops/linear_attention/reference.h"
#include "src/core/float.h"
#include "tests/unit/ops/op_test.h"

namespace einkorn::test {

/// One token of one head, K = V = 1, all in f64 but where an argument has to be f32: state 8, q and
/// k 1, v 2, beta 0, and nothing forgotten.
template <class C>
struct OneTokenOfOne {
  typename C::Args args;
  std::vector<Tensor> storage;

  OneTokenOfOne() {
    args.q = args.k = make({1, 1, 1, 1}, {1});
    args.v = make({1, 1, 1, 1}, {2});
    if constexpr (C::kKind.delta) {
      args.g = C::kKind.channel_gate ? make({1, 1, 1, 1}, {0}) : make({1, 1, 1}, {0});
      args.beta = make({1, 1, 1}, {0});
    } else {
      args.decay = make({1}, {0});
    }
    args.initial_state = make({1, 1, 1, 1}, {8});
    args.o = make({1, 1, 1, 1}, {0});
    args.final_state = make({1, 1, 1, 1}, {0});
  }

  TensorView make(std::initializer_list<std::int64_t> shape, const std::vector<double>& values) {
    storage.push_back(tensor_of(kF64, shape, values));
    return storage.back();
  }
};

/// Sets every element of a gapless tensor to value(index).
template <class Value>
void fill_every(const TensorView& tensor, Value&& value) {
  for (std::int64_t i = 0; i < tensor.numel(); ++i) store_from_double(tensor, i, value(i));
}

/// sqrt(mean((a - b)^2) / mean(b^2)); of two tensors of zeros, 0.
inline double relative_rms(const TensorView& a, const TensorView& b) {
  double errors = 0;
  double squares = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const double want = load_as_double(b, i);
    errors += std::pow(load_as_double(a, i) - want, 2);
    squares += want * want;
  }
  return errors == 0 ? 0 : std::sqrt(errors / squares);
}

/// The recurrent and the chunked algorithm on a case, whose arguments `change` may spoil.
template <class C, class Change>
void expect_algorithms_agree(const std::string& keys, Change&& change) {
  SCOPED_TRACE(keys);
  Rng rng(7);
  const auto inputs = C::make_inputs(C::parse(split_key_values(keys)), rng);
  typename C::Args recurrent = inputs.args;
  change(recurrent);
  typename C::Args chunked = recurrent;
  std::vector<Tensor> storage;
  const auto widen = [&](TensorView& view) {
    if (!view.defined()) return;
    storage.push_back(Tensor::empty(view.shape(), kF64, kCpuDevice));
    storage.back().fill_bytes(0xff);
    view = storage.back();
  };
  for (auto* args : {&recurrent, &chunked}) {
    widen(args->o);
    widen(args->final_state);
    widen(args->checkpoints);
  }
  linear_attention::prefill_recurrent(linear_attention::prefill_call<C>(recurrent));
  linear_attention::prefill_chunked(linear_attention::prefill_call<C>(chunked));
  EXPECT_LT(relative_rms(chunked.o, recurrent.o), 1e-10);
  if (recurrent.final_state.defined()) {
    EXPECT_LT(relative_rms(chunked.final_state, recurrent.final_state), 1e-10);
  }
  if (recurrent.checkpoints.defined()) {
    EXPECT_LT(relative_rms(chunked.checkpoints, recurrent.checkpoints), 1e-10);
  }
}

template <class C>
void expect_algorithms_agree(const std::string& keys) {
  expect_algorithms_agree<C>(keys, [](typename C::Args&) {});
}

}  // namespace einkorn::test
