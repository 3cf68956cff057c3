#pragma once

// What the contracts of the prefill ops have in common: each spoils matching arguments in one way,
// and the errors are in golden files, "accepted" where there is none.

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/error.h>
#include <einkorn/signature.h>
#include <gtest/gtest.h>

#include "tests/unit/golden.h"
#include "tests/unit/ops/prefill_arguments.h"

namespace einkorn::test {

/// The outcomes of matching spoiled arguments, in errors/<op>_<topic>.txt.
template <class C>
class PrefillOutcomes {
 public:
  using Valid = PrefillArguments<C>;

  explicit PrefillOutcomes(std::string_view topic)
      : file_("errors/" + std::string(C::kName) + '_' + std::string(topic) + ".txt") {}
  PrefillOutcomes(const PrefillOutcomes&) = delete;
  PrefillOutcomes& operator=(const PrefillOutcomes&) = delete;
  ~PrefillOutcomes() { expect_golden(file_, text_); }

  template <class F>
  void add(std::string_view title, F&& spoil) {
    Valid valid;
    ASSERT_NO_THROW(static_cast<void>(C::match(valid.args)));
    spoil(valid, valid.args);
    text_ += (text_.empty() ? "## " : "\n## ") + std::string(title) + '\n';
    try {
      static_cast<void>(C::match(valid.args));
      text_ += "accepted\n";
    } catch (const Error& error) {
      text_ += std::string(name(error.kind())) + ": " + error.what() + '\n';
    }
  }

 private:
  std::string file_;
  std::string text_;
};

template <class Args>
TensorView& tensor_named(Args& args, std::string_view wanted) {
  TensorView* found = nullptr;
  for_each_tensor(args, [&](std::string_view name, Role, TensorView& view) {
    if (name == wanted) found = &view;
  });
  return *found;
}

/// `view` with other strides, on memory of its own: room for twice as many elements.
template <class C>
TensorView restrided(PrefillArguments<C>& valid, const TensorView& view,
                     const std::vector<std::int64_t>& strides) {
  const TensorView room = valid.make({2 * view.numel() + 64}, view.dtype());
  return {room.data(), view.dtype(), view.shape(), strides, view.device()};
}

template <class C>
void spoil_one_tensor(PrefillOutcomes<C>& outcomes, const std::string& name) {
  using Valid = PrefillArguments<C>;
  const auto strides_of = [](const TensorView& view) {
    return std::vector<std::int64_t>(view.strides().begin(), view.strides().end());
  };
  outcomes.add(name + " missing", [&](Valid&, auto& args) { tensor_named(args, name) = {}; });
  outcomes.add(name + " dtype", [&](Valid& valid, auto& args) {
    TensorView& view = tensor_named(args, name);
    valid.storage.push_back(Tensor::empty(view.shape(), kU8, kCpuDevice));
    view = valid.storage.back();
  });
  outcomes.add(name + " device", [&](Valid&, auto& args) {
    TensorView& view = tensor_named(args, name);
    view = {view.data(), view.dtype(), view.shape(), cuda_device(1)};
  });
  outcomes.add(name + " rank", [&](Valid& valid, auto& args) {
    TensorView& view = tensor_named(args, name);
    view = valid.make({}, view.dtype());
  });
  outcomes.add(name + " one more of the last dimension", [&](Valid& valid, auto& args) {
    TensorView& view = tensor_named(args, name);
    std::vector<std::int64_t> shape(view.shape().begin(), view.shape().end());
    ++shape.back();
    valid.storage.push_back(Tensor::empty(shape, view.dtype(), kCpuDevice));
    view = valid.storage.back();
  });
  outcomes.add(name + " last dimension with gaps", [&](Valid& valid, auto& args) {
    TensorView& view = tensor_named(args, name);
    std::vector<std::int64_t> strides = strides_of(view);
    for (std::int64_t& stride : strides) stride *= 2;
    view = restrided(valid, view, strides);
  });
  outcomes.add(name + " broadcast", [&](Valid& valid, auto& args) {
    TensorView& view = tensor_named(args, name);
    std::vector<std::int64_t> strides = strides_of(view);
    strides[view.rank() > 1 ? 1 : 0] = 0;
    view = restrided(valid, view, strides);
  });
}

/// Each tensor wrong alone, and each output over every other tensor.
template <class C>
void expect_prefill_boundary() {
  PrefillOutcomes<C> outcomes("boundary");
  using Valid = PrefillArguments<C>;
  std::vector<ArgumentInfo> tensors;
  for (const ArgumentInfo& info : describe_arguments<typename C::Args>()) {
    if (info.kind == ArgumentKind::kTensor) tensors.push_back(info);
  }
  for (const ArgumentInfo& info : tensors) spoil_one_tensor(outcomes, std::string(info.name));
  for (const ArgumentInfo& output : tensors) {
    for (const ArgumentInfo& other : tensors) {
      const bool once = other.role == Role::kInput || other.offset < output.offset;
      if (output.role != Role::kOutput || !once || output.name == other.name) continue;
      const std::string title = std::string(output.name) + " over " + std::string(other.name);
      outcomes.add(title, [&](Valid& valid, auto& args) {
        TensorView& under = tensor_named(args, other.name);
        TensorView& over = tensor_named(args, output.name);
        const TensorView room = valid.make({1 << 16}, kI64);
        // Bounds keep their numbers: they are read before anything is compared.
        if (under.numel() < 8 && (under.dtype() == kI32 || under.dtype() == kI64)) {
          std::memcpy(room.data(), under.data(), under.nbytes());
        }
        under = {room.data(), under.dtype(), under.shape(), kCpuDevice};
        over = {room.data_as<char>() + 8, over.dtype(), over.shape(), kCpuDevice};
      });
    }
  }
}

template <class C>
void expect_prefill_strides() {
  PrefillOutcomes<C> outcomes("strides");
  using Valid = PrefillArguments<C>;
  for (const char* name : {"q", "k", "v", "g", "beta", "o"}) {
    if (!C::kKind.delta && (name == std::string_view("g") || name == std::string_view("beta"))) {
      continue;
    }
    outcomes.add(std::string(name) + " rows of the batch apart", [&](Valid& valid, auto& args) {
      valid.unpack();
      TensorView& view = tensor_named(args, name);
      std::vector<std::int64_t> strides(view.strides().begin(), view.strides().end());
      strides[0] += 64;
      view = restrided(valid, view, strides);
    });
    outcomes.add(std::string(name) + " tokens apart", [&](Valid& valid, auto& args) {
      valid.unpack();
      TensorView& view = tensor_named(args, name);
      std::vector<std::int64_t> strides(view.strides().begin(), view.strides().end());
      const std::int64_t row = strides[1];
      strides[1] = row + row / 2;
      strides[0] = view.size(1) * strides[1];
      view = restrided(valid, view, strides);
    });
  }
}

template <class C>
void expect_prefill_sequences() {
  PrefillOutcomes<C> outcomes("sequences");
  using Valid = PrefillArguments<C>;
  const auto bounds = [&](std::string_view title, const std::vector<std::int64_t>& values) {
    outcomes.add(title, [&](Valid& valid, auto& args) {
      valid.pack(values, kI64);
      args.cu_seqlens_cpu = {};
    });
  };
  bounds("not from 0", {1, 64, 128});
  bounds("not ending at the tokens", {0, 64, 127});
  bounds("beyond the tokens", {0, 64, 129});
  bounds("decreasing", {0, 129, 128});
  bounds("decreasing below 0", {0, -1, 128});
  bounds("an empty sequence and no checkpoint", {0, 128, 128});
  bounds("one bound", {0});
  outcomes.add("more states than sequences",
               [](Valid& valid, auto&) { valid.pack({0, 128}, kI32); });
  outcomes.add("numbers on the CPU that are others", [](Valid& valid, auto& args) {
    args.cu_seqlens_cpu = valid.numbers({0, 63, 128}, kI64);
  });
  outcomes.add("numbers on the CPU, fewer", [](Valid& valid, auto& args) {
    args.cu_seqlens_cpu = valid.numbers({0, 128}, kI64);
  });
  outcomes.add("numbers on the CPU alone", [](Valid&, auto& args) { args.cu_seqlens = {}; });
  outcomes.add("a batch of packed rows", [](Valid& valid, auto& args) {
    const auto packed = args.cu_seqlens;
    valid.unpack();
    args.cu_seqlens = packed;
  });
  outcomes.add("value heads no multiple of heads", [](Valid& valid, auto& args) {
    args.q = args.k = valid.make({1, Valid::kTokens, 3, 8}, kBF16);
  });
  outcomes.add("checkpoints missing a row",
               [](Valid&, auto& args) { args.checkpoints = args.checkpoints.slice(0, 0, 1); });
  outcomes.add("checkpoints without checkpoint_every",
               [](Valid&, auto& args) { args.checkpoint_every = 0; });
  outcomes.add("checkpoint_every without checkpoints",
               [](Valid&, auto& args) { args.checkpoints = {}; });
  outcomes.add("states of the other layout",
               [](Valid&, auto& args) { args.state_layout = C::StateLayout::kVk; });
  outcomes.add("final_state in place",
               [](Valid&, auto& args) { args.final_state = args.initial_state; });
  outcomes.add("final_state in bf16", [](Valid& valid, auto& args) {
    args.final_state = valid.make({2, 4, 8, 4}, kBF16);
  });
}

template <class C>
void expect_prefill_scalars() {
  PrefillOutcomes<C> outcomes("scalars");
  using Valid = PrefillArguments<C>;
  outcomes.add("scale NaN",
               [](Valid&, auto& args) { args.scale = std::numeric_limits<double>::quiet_NaN(); });
  outcomes.add("gate", [](Valid&, auto& args) { args.gate = typename C::Gate{9}; });
  outcomes.add("state_layout",
               [](Valid&, auto& args) { args.state_layout = typename C::StateLayout{9}; });
  outcomes.add("split", [](Valid&, auto& args) { args.split = typename C::Split{9}; });
  outcomes.add("checkpoint_every 65", [](Valid&, auto& args) { args.checkpoint_every = 65; });
  outcomes.add("checkpoint_every -64", [](Valid&, auto& args) { args.checkpoint_every = -64; });
  outcomes.add("segment 65", [](Valid&, auto& args) { args.segment = 65; });
  outcomes.add("segment of a sequence", [](Valid&, auto& args) {
    args.segment = 64;
    args.split = C::Split::kForce;
  });
  outcomes.add("segment of a sequence where it pays", [](Valid&, auto& args) {
    args.segment = 64;
    args.split = C::Split::kAuto;
  });
  outcomes.add("segment with split off", [](Valid&, auto& args) {
    args.segment = 64;
    args.split = C::Split::kOff;
  });
  outcomes.add("split forced on a CPU", [](Valid&, auto& args) { args.split = C::Split::kForce; });
  if constexpr (C::kKind.delta) {
    outcomes.add("beta_form", [](Valid&, auto& args) { args.beta_form = typename C::Beta{9}; });
    for (const double bound : {-5.1, 0.0, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
      outcomes.add("lower_bound " + std::to_string(bound),
                   [&](Valid&, auto& args) { args.lower_bound = bound; });
    }
    outcomes.add("softplus without a_log", [](Valid&, auto& args) { args.a_log = {}; });
    outcomes.add("lower_bound without a_log", [](Valid&, auto& args) {
      args.gate = C::Gate::kLowerBound;
      args.a_log = {};
    });
    outcomes.add("log with a_log", [](Valid&, auto& args) {
      args.gate = C::Gate::kLog;
      args.dt_bias = {};
    });
    outcomes.add("factor with dt_bias", [](Valid&, auto& args) {
      args.gate = C::Gate::kFactor;
      args.a_log = {};
    });
    outcomes.add("negative eigenvalues of probabilities",
                 [](Valid&, auto& args) { args.negative_eigenvalues = true; });
  } else {
    outcomes.add("raw gate", [](Valid&, auto& args) { args.gate = C::Gate::kSoftplus; });
  }
}

/// Keys as an op's parse refuses them.
template <class C>
void expect_prefill_parse_errors() {
  GoldenErrors errors("errors/" + std::string(C::kName) + "_parse.txt");
  std::vector<std::string> all{"dtype=f64",
                               "initial_state=f16",
                               "final_state=i32",
                               "value_heads=17",
                               "key_dim=257",
                               "value_dim=0",
                               "longest=5",
                               "batch=2 seqs=3",
                               "tokens=10 seqs=3 longest=3",
                               "tokens=10 seqs=3 longest=11",
                               "checkpoint_every=65",
                               "checkpoints=f32",
                               "checkpoint_every=64 checkpoints=none",
                               "checkpoint_every=64 checkpoints=f16",
                               "segment=65",
                               "segment=4096",
                               "align=3",
                               "align=1",
                               "align=32",
                               "key_dim=4 align=16",
                               "state_layout=kk",
                               "batch=65536 tokens=2147483647 heads=65536 key_dim=256",
                               "tokens=2147483648",
                               "seqs=1048577"};
  if constexpr (C::kKind.delta) {
    for (const char* keys : {"gate_dtype=i8", "beta_dtype=f64", "a_log=true", "dt_bias=true",
                             "gate=softplus a_log=false", "gate=factor dt_bias=true"}) {
      all.emplace_back(keys);
    }
  } else {
    all.emplace_back("gate=softplus");
    all.emplace_back("beta_dtype=f32");
  }
  for (const std::string& keys : all) {
    errors.add(keys, [&] { static_cast<void>(C::parse(split_key_values(keys))); });
  }
}

}  // namespace einkorn::test
