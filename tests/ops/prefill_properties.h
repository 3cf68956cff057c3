#pragma once

// What holds of every prefill op: of each variant that serves, on each device here.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <einkorn/cuda.h>

#include "src/core/float.h"
#include "src/measure/memory.h"
#include "tests/ops/support.h"

namespace einkorn::test {

/// Calls f(device, variant) for all that serve these arguments, the reference apart.
template <class F>
void for_each_serving(const OpEntry& entry, const CaseData& data, F&& f) {
  const AnyProblem problem = entry.op->match(data.args.get());
  int served = 0;
  for (const Device device : devices()) {
    for (const Variant* variant : entry.variants) {
      if (variant == entry.op->reference_variant) continue;
      if (!measure::skip_reason(*variant, device).empty()) continue;
      if (refusal_of(*variant, problem.get(), device_info(device))) continue;
      SCOPED_TRACE(variant->id() + " on " + to_string(device));
      f(device, *variant);
      ++served;
    }
  }
  EXPECT_GT(served, 0);
}

/// The arguments after a call by one variant, on the CPU.
inline CaseData after_call(const OpEntry& entry, const CaseData& data, Device device,
                           const Variant& variant) {
  const CaseData there = measure::clone_to(*entry.op, data, device);
  if (device.kind == DeviceKind::kCpu) {
    entry.op->call(there.args.get(), Stream::cpu(), variant.name());
  } else {
    const cuda::OwnedStream stream(device.index);
    entry.op->call(there.args.get(), stream.get(), variant.name());
    stream.synchronize();
  }
  return measure::clone_to(*entry.op, there, kCpuDevice);
}

/// Elements of any strides, in order.
inline std::vector<double> elements_of(const TensorView& view) {
  std::vector<double> out;
  std::vector<std::int64_t> index(static_cast<std::size_t>(view.rank()), 0);
  for (std::int64_t n = 0; n < view.numel(); ++n) {
    std::int64_t offset = 0;
    for (int i = 0; i < view.rank(); ++i) {
      offset += index[static_cast<std::size_t>(i)] * view.stride(i);
    }
    out.push_back(load_as_double(view, offset));
    for (int i = view.rank() - 1; i >= 0; --i) {
      if (++index[static_cast<std::size_t>(i)] < view.size(i)) break;
      index[static_cast<std::size_t>(i)] = 0;
    }
  }
  return out;
}

inline double relative_rms(const std::vector<double>& got, const std::vector<double>& want) {
  EXPECT_EQ(got.size(), want.size());
  double errors = 0;
  double squares = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    errors += (got[i] - want[i]) * (got[i] - want[i]);
    squares += want[i] * want[i];
  }
  return errors == 0 ? 0 : std::sqrt(errors / squares);
}

/// Sets every element of a gapless tensor to value(index).
template <class Value>
void set_every(const TensorView& tensor, Value&& value) {
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    store_from_double(tensor, i, static_cast<double>(value(i)));
}

/// Writes bounds over those of a packed case of as many sequences.
inline void set_bounds(const TensorView& bounds, const std::vector<std::int64_t>& values) {
  ASSERT_EQ(bounds.numel(), static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (bounds.dtype() == kI32) {
      bounds.data_as<std::int32_t>()[i] = static_cast<std::int32_t>(values[i]);
    } else {
      bounds.data_as<std::int64_t>()[i] = values[i];
    }
  }
}

/// A packed case with these lengths.
template <class C>
CaseData packed_data(const OpEntry& entry, const std::vector<std::int64_t>& lengths,
                     const std::string& keys) {
  std::vector<std::int64_t> bounds{0};
  for (const std::int64_t one : lengths) bounds.push_back(bounds.back() + one);
  CaseData data = make_data(entry, "tokens=" + std::to_string(bounds.back()) +
                                       " seqs=" + std::to_string(lengths.size()) + ' ' + keys);
  auto& args = args_of<C>(data);
  set_bounds(args.cu_seqlens, bounds);
  if (args.checkpoints.defined()) {
    std::vector<std::int64_t> shape(args.checkpoints.shape().begin(),
                                    args.checkpoints.shape().end());
    shape[0] = 0;
    for (const std::int64_t one : lengths) shape[0] += one / args.checkpoint_every;
    data.storage.push_back(Tensor::empty(shape, args.checkpoints.dtype(), kCpuDevice));
    args.checkpoints = data.storage.back();
  }
  return data;
}

/// The sets of lengths that fla's, FlashKDA's and cuLA's tests go over, and the smallest ones among
/// others.
template <class C>
void expect_packed_sets(const OpEntry& entry, const std::string& keys) {
  using Lengths = std::vector<std::int64_t>;
  for (const Lengths& lengths :
       {Lengths{15}, Lengths{256, 244, 500}, Lengths{15, 85, 200, 900, 800},
        Lengths{100, 200, 900, 1800, 1096}, Lengths{1300, 547, 2048, 963, 271, 3063},
        Lengths{1024, 1, 63, 65, 129}, Lengths{0, 1, 0, 0, 64, 1, 0}, Lengths{0, 0},
        Lengths(9, 64)}) {
    const CaseData data = packed_data<C>(entry, lengths, keys);
    expect_pass(entry, data, "packed");
  }
}

/// Outputs after `begin` to `end` of a batch's tokens, and the state that was carried there.
template <class C>
CaseData part_of(const OpEntry& entry, const CaseData& data, std::int64_t begin, std::int64_t end) {
  CaseData part{entry.op->copy_args(data.args.get()), data.storage};
  auto& args = args_of<C>(part);
  const auto cut = [&](TensorView& view) { view = view.slice(1, begin, end); };
  cut(args.q);
  cut(args.k);
  cut(args.v);
  cut(args.o);
  if constexpr (requires { args.beta; }) {
    cut(args.g);
    cut(args.beta);
  }
  return part;
}

/// A run in two parts, the second from the state that the first left, is the run in one: both are
/// the definition's as far as a result has to be, and on a CPU, where all between is f32, each
/// other's.
template <class C>
void expect_split_and_carry(const OpEntry& entry, const std::string& keys,
                            const std::vector<std::int64_t>& cuts) {
  const CaseData data = make_data(entry, keys);
  const std::int64_t tokens = args_of<C>(data).q.size(1);
  const double rms = entry.op->tolerance(entry.op->match(data.args.get()).get()).rms;
  const CaseData defined = after_call(entry, data, kCpuDevice, *entry.op->reference_variant);
  for_each_serving(entry, data, [&](Device device, const Variant& variant) {
    std::vector<CaseData> wanted{defined};
    if (device.kind == DeviceKind::kCpu) {
      wanted.push_back(after_call(entry, data, device, variant));
    }
    for (const std::int64_t cut : cuts) {
      SCOPED_TRACE(fmt::format("cut at {}", cut));
      const CaseData first = after_call(entry, part_of<C>(entry, data, 0, cut), device, variant);
      CaseData second = part_of<C>(entry, data, cut, tokens);
      args_of<C>(second).initial_state = args_of<C>(first).final_state;
      second.storage.insert(second.storage.end(), first.storage.begin(), first.storage.end());
      second = after_call(entry, second, device, variant);
      const auto apart = [](const TensorView& got, const TensorView& want) {
        return relative_rms(elements_of(got), elements_of(want));
      };
      for (const CaseData& want : wanted) {
        const TensorView& o = args_of<C>(want).o;
        EXPECT_LE(apart(args_of<C>(first).o, o.slice(1, 0, cut)), rms);
        EXPECT_LE(apart(args_of<C>(second).o, o.slice(1, cut, tokens)), rms);
        EXPECT_LE(apart(args_of<C>(second).final_state, args_of<C>(want).final_state), rms);
      }
    }
  });
}

/// Each sequence's results have the same bits, wherever among others it lies and whatever these
/// are.
template <class C>
void expect_permutation_of_sequences(const OpEntry& entry, const std::string& keys) {
  const std::vector<std::int64_t> lengths{70, 1, 130, 0, 64};
  const std::vector<std::size_t> order{2, 4, 0, 3, 1};
  const CaseData data = packed_data<C>(entry, lengths, keys + " initial_state=f32");
  std::vector<std::int64_t> moved;
  moved.reserve(order.size());
  for (const std::size_t i : order) moved.push_back(lengths[i]);
  const CaseData other = packed_data<C>(entry, moved, keys + " initial_state=f32");
  const auto& from = args_of<C>(data);
  const auto& to = args_of<C>(other);
  std::vector<std::int64_t> begins{0};
  std::vector<std::int64_t> moved_begins{0};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    begins.push_back(begins.back() + lengths[i]);
    moved_begins.push_back(moved_begins.back() + moved[i]);
  }
  // Gapless, so that a sequence is one stretch of memory, as is its state.
  const auto move = [&](const TensorView& source, const TensorView& target, int dim,
                        std::int64_t begin, std::int64_t count, std::int64_t at) {
    const std::int64_t bytes = source.stride(dim) * bits(source.dtype()) / 8;
    std::memcpy(target.data_as<char>() + at * bytes, source.data_as<char>() + begin * bytes,
                static_cast<std::size_t>(count * bytes));
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto rows = [&](const TensorView& source, const TensorView& target) {
      move(source, target, 1, begins[order[i]], moved[i], moved_begins[i]);
    };
    rows(from.q, to.q);
    rows(from.k, to.k);
    rows(from.v, to.v);
    if constexpr (requires { from.beta; }) {
      rows(from.g, to.g);
      rows(from.beta, to.beta);
    }
    move(from.initial_state, to.initial_state, 0, static_cast<std::int64_t>(order[i]), 1,
         static_cast<std::int64_t>(i));
  }
  for_each_serving(entry, data, [&](Device device, const Variant& variant) {
    const CaseData first = after_call(entry, data, device, variant);
    const CaseData second = after_call(entry, other, device, variant);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::int64_t begin = begins[order[i]];
      EXPECT_EQ(
          elements_of(args_of<C>(second).o.slice(1, moved_begins[i], moved_begins[i] + moved[i])),
          elements_of(args_of<C>(first).o.slice(1, begin, begin + moved[i])));
      const auto n = static_cast<std::int64_t>(order[i]);
      const auto m = static_cast<std::int64_t>(i);
      EXPECT_EQ(elements_of(args_of<C>(second).final_state.slice(0, m, m + 1)),
                elements_of(args_of<C>(first).final_state.slice(0, n, n + 1)));
    }
  });
}

/// What is NaN of a neighbour stays there.
template <class C>
void expect_no_leak_between_sequences(const OpEntry& entry, const std::string& keys) {
  const CaseData data = packed_data<C>(entry, {70, 33, 97}, keys);
  for_each_serving(entry, data, [&](Device device, const Variant& variant) {
    const CaseData clean = after_call(entry, data, device, variant);
    const CaseData poisoned = measure::clone_to(*entry.op, data, kCpuDevice);
    auto& args = args_of<C>(poisoned);
    for (const TensorView* view : {&args.q, &args.k, &args.v}) {
      // All ones: NaN in every float type.
      const TensorView middle = view->slice(1, 70, 103);
      std::memset(middle.data(), 0xff, middle.nbytes());
    }
    const CaseData got = after_call(entry, poisoned, device, variant);
    for (const auto& [begin, end] : {std::pair{0, 70}, std::pair{103, 200}}) {
      EXPECT_EQ(elements_of(args_of<C>(got).o.slice(1, begin, end)),
                elements_of(args_of<C>(clean).o.slice(1, begin, end)));
    }
    EXPECT_TRUE(std::isnan(elements_of(args_of<C>(got).o.slice(1, 80, 81))[0]));
  });
}

/// No token's result depends on a later one, by not so much as a bit.
template <class C>
void expect_prefix_causality(const OpEntry& entry, const std::string& keys) {
  const CaseData data = make_data(entry, keys);
  const std::int64_t tokens = args_of<C>(data).q.size(1);
  for_each_serving(entry, data, [&](Device device, const Variant& variant) {
    const CaseData before = after_call(entry, data, device, variant);
    for (const std::int64_t cut :
         {std::int64_t{1}, std::int64_t{15}, std::int64_t{23}, std::int64_t{64}, tokens - 1}) {
      const CaseData changed = measure::clone_to(*entry.op, data, kCpuDevice);
      auto& args = args_of<C>(changed);
      set_every(args.q.slice(1, cut, tokens), [](std::int64_t i) { return 1 + i % 3; });
      set_every(args.k.slice(1, cut, tokens),
                [](std::int64_t i) { return 0.1 + static_cast<double>(i % 2); });
      set_every(args.v.slice(1, cut, tokens), [](std::int64_t i) { return 7 - i % 5; });
      if constexpr (requires { args.beta; }) {
        set_every(args.g.slice(1, cut, tokens),
                  [](std::int64_t i) { return -0.5 * static_cast<double>(i % 4); });
        set_every(args.beta.slice(1, cut, tokens), [](std::int64_t) { return 0.25; });
      }
      const CaseData after = after_call(entry, changed, device, variant);
      EXPECT_EQ(elements_of(args_of<C>(after).o.slice(1, 0, cut)),
                elements_of(args_of<C>(before).o.slice(1, 0, cut)))
          << "tokens from " << cut;
    }
  });
}

/// q, k and v as slices of one tensor, heads with gaps in it, and the state in place.
template <class C>
void expect_slices_and_in_place(const OpEntry& entry, const std::string& keys) {
  CaseData data = make_data(entry, keys + " initial_state=f32");
  auto& args = args_of<C>(data);
  const std::int64_t shape[] = {args.q.size(0), args.q.size(1),
                                3 * args.q.size(2) + args.v.size(2) + 1, 160};
  data.storage.push_back(Tensor::empty(shape, args.q.dtype(), kCpuDevice));
  data.storage.back().fill_bytes(0xff);
  const TensorView room = data.storage.back();
  std::int64_t next = 0;
  const auto place = [&](TensorView& view, std::int64_t step) {
    TensorView there =
        room.slice(2, next, next + (view.size(2) - 1) * step + 1).slice(3, 16, 16 + view.size(3));
    const std::int64_t strides[] = {there.stride(0), there.stride(1), there.stride(2) * step, 1};
    there = TensorView(there.data(), view.dtype(), view.shape(), strides, kCpuDevice);
    for (std::int64_t t = 0; t < view.size(1); ++t) {
      for (std::int64_t h = 0; h < view.size(2); ++h) {
        const TensorView row = view.slice(1, t, t + 1).slice(2, h, h + 1);
        const TensorView to = there.slice(1, t, t + 1).slice(2, h, h + 1);
        std::memcpy(to.data(), row.data(), row.nbytes());
      }
    }
    next += view.size(2) * step;
    view = there;
  };
  place(args.q, 2);
  place(args.k, 1);
  place(args.v, 1);
  args.final_state = args.initial_state;
  expect_pass(entry, data, "slices, state in place");
}

/// Bounds that changed in place are seen, and bad ones write nothing.
template <class C>
void expect_bounds_are_read_each_time(const OpEntry& entry) {
  const CaseData data = packed_data<C>(entry, {64, 64}, "heads=1 key_dim=16 dtype=f32");
  const auto& args = args_of<C>(data);
  const auto run = [&] { entry.op->call(data.args.get(), Stream::cpu(), {}); };
  run();
  const std::vector<double> halves = elements_of(args.o);
  set_bounds(args.cu_seqlens, {0, 1, 128});
  run();
  EXPECT_NE(elements_of(args.o), halves);
  set_bounds(args.cu_seqlens, {0, 130, 128});
  EXPECT_THROW(run(), Error);
  set_bounds(args.cu_seqlens, {0, 64, 128});
  run();
  EXPECT_EQ(elements_of(args.o), halves);
}

template <class C>
void expect_refusals_write_nothing(const OpEntry& entry) {
  for (const Device device : devices()) {
    const CaseData data = packed_data<C>(entry, {64, 65}, "heads=1 key_dim=16 initial_state=f32");
    auto& args = args_of<C>(data);
    const typename C::Args good = args;
    for (const std::vector<std::int64_t>& bounds :
         {std::vector<std::int64_t>{1, 64, 129}, {0, 64, 128}, {0, 130, 129}}) {
      set_bounds(args.cu_seqlens, bounds);
      expect_refused(entry, data, device, ErrorKind::kValue, "cu_seqlens[");
    }
    set_bounds(args.cu_seqlens, {0, 64, 129});
    args.initial_state = good.initial_state.slice(0, 0, 1);
    expect_refused(entry, data, device, ErrorKind::kValue, "initial_state dim 0");
    args = good;
    args.final_state = TensorView(good.o.data(), kF32, good.final_state.shape(), kCpuDevice);
    expect_refused(entry, data, device, ErrorKind::kValue, "final_state memory");
    args = good;
    args.split = C::Split::kForce;
    args.segment = 128;
    expect_refused(entry, data, device, ErrorKind::kValue, "segment");
  }
}

}  // namespace einkorn::test
