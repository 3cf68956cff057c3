#pragma once

// An op for the tests of registry and dispatch: y = factor * x, with variants that refuse, count
// how often they are planned, and one for devices that are not here.

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <einkorn/dispatch.h>
#include <einkorn/error.h>
#include <einkorn/match.h>
#include <einkorn/op.h>
#include <einkorn/registry.h>

namespace einkorn::test {

/// How often Scale's arguments were matched so far.
inline std::atomic<int> scale_matches{0};

struct Scale {
  static constexpr std::string_view kName = "test_scale";
  static constexpr std::string_view kFamily = "test";
  static constexpr std::string_view kSummary = "y = factor * x";

  struct Args {
    TensorView x;  ///< [n] f32
    TensorView y;  ///< out, like x; may be exactly x
    int factor = 2;

    static constexpr auto arguments() {
      return std::tuple{input("x", &Args::x, "[n], f32"),
                        output("y", &Args::y, Like{"x"}, "like x; may be exactly x"),
                        scalar("factor", &Args::factor, "a factor")};
    }
  };

  struct Problem {
    std::int64_t n = 8;
    int factor = 2;
    bool operator==(const Problem&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("n", &Problem::n, "elements", 0, 1e6),
                        field("factor", &Problem::factor, "what x is multiplied by", -9, 9)};
    }
  };

  static Problem match(const Args& args) {
    ++scale_matches;
    Dim n{"n"};
    DeviceVar device;
    einkorn::match(kName, "x", args.x).shape(n).dtype(kF32).on(device).contiguous().verify();
    einkorn::match(kName, "y", args.y)
        .shape(n)
        .dtype(kF32)
        .on(device)
        .contiguous()
        .writable()
        .verify();
    return {n.value(), args.factor};
  }
  static Device device(const Args& args) { return args.x.device(); }
  static std::vector<Key> keys() { return describe_fields<Problem>(); }
  static Problem parse(const KeyValues& pairs) { return parse_fields<Problem>(kName, pairs); }
  static std::string print(const Problem& problem) { return print_fields(problem, 1); }
  static Work work(const Problem& problem) {
    const auto n = static_cast<double>(problem.n);
    return {n, n, 8 * n, 8 * n, 1};
  }
  static Tolerance tolerance(const Problem&) { return {}; }
  static std::span<const Case> cases() {
    static constexpr Case kCases[] = {{"small", 0, "n=8"}};
    return kCases;
  }
  static Inputs<Args> make_inputs(const Problem& problem, Rng& rng) {
    Inputs<Args> inputs;
    for (int i = 0; i < 2; ++i) {
      inputs.storage.push_back(Tensor::empty({problem.n}, kF32, kCpuDevice));
    }
    inputs.args = {inputs.storage[0], inputs.storage[1], problem.factor};
    for (std::int64_t i = 0; i < problem.n; ++i) {
      inputs.args.x.data_as<float>()[i] = static_cast<float>(rng.uniform());
    }
    return inputs;
  }
  static void reference(const Args& args) {
    for (std::int64_t i = 0; i < args.x.size(0); ++i) {
      const double product = args.factor * double{args.x.data_as<const float>()[i]};
      if (args.y.dtype() == kF64) {
        args.y.data_as<double>()[i] = product;
      } else {
        args.y.data_as<float>()[i] = static_cast<float>(product);
      }
    }
  }
};

struct NoTiling {
  bool operator==(const NoTiling&) const = default;
  static constexpr auto fields() { return std::tuple{}; }
};

/// Plans made by EvenV1 so far.
inline std::atomic<int> even_plans{0};

/// Serves even sizes only.
struct EvenV1 {
  struct Tiling {
    int block = 64;  ///< elements
    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("block", &Tiling::block, "elements")};
    }
  };
  struct State {
    int factor;
  };
  static std::optional<Refusal> supports(const Scale::Problem& problem, const DeviceInfo&) {
    if (problem.n % 2 != 0) return Refusal{"n " + std::to_string(problem.n) + " is odd"};
    return std::nullopt;
  }
  static std::vector<Tiling> tilings(const Scale::Problem&, const DeviceInfo&) {
    return {{64}, {128}};
  }
  static Plan plan(const Scale::Problem& problem, const Tiling&, const DeviceInfo&) {
    even_plans.fetch_add(1);
    Plan out;
    out.stages.emplace_back(host_stage<Scale::Args, State>(
        "even", State{problem.factor}, [](const Scale::Args& args, const State& state) {
          for (std::int64_t i = 0; i < args.x.size(0); ++i) {
            args.y.data_as<float>()[i] =
                static_cast<float>(state.factor) * args.x.data_as<const float>()[i];
          }
        }));
    return out;
  }
};

/// Serves everything on CUDA; its source does not exist, so it can be chosen and never run.
struct GpuV1 {
  using Tiling = NoTiling;
  static std::optional<Refusal> supports(const Scale::Problem&, const DeviceInfo&) {
    return std::nullopt;
  }
  static std::vector<Tiling> tilings(const Scale::Problem&, const DeviceInfo&) { return {{}}; }
  static Plan plan(const Scale::Problem&, const Tiling&, const DeviceInfo&) {
    struct Params {};
    Plan out;
    out.stages.emplace_back(launch_stage<Scale::Args, Params>("gpu", "no/such/file.cu", "gpu_v1",
                                                              cuda::Launch{}, Params{},
                                                              [](const Scale::Args&, Params&) {}));
    return out;
  }
};

inline constexpr Variant kEven =
    make_variant<Scale, EvenV1>("cpu", "even", 1, "cpp", "even sizes only");
inline constexpr Variant kGpu = make_variant<Scale, GpuV1>("sm90", "gpu", 1, "cuda", "not built");

inline constexpr OpDef kScale =
    make_op<Scale>([](const void* args, Stream stream, std::string_view variant) {
      dispatch<Scale>(*static_cast<const Scale::Args*>(args), stream, variant);
    });

/// The registry with the op in it; registered on the first call.
inline std::shared_ptr<const Registry> registry_with_scale() {
  static const bool kOnce = [] {
    register_op(kScale);
    register_variant(kGpu);
    register_variant(kEven);
    return true;
  }();
  static_cast<void>(kOnce);
  return registry();
}

/// Another op like it under a name that nobody had before, not registered yet.
inline const OpDef& fresh_op() {
  struct Named {
    std::string name;
    OpDef op;
  };
  static std::deque<Named> made;  // never moves what it holds
  Named& named = made.emplace_back(Named{"test_fresh_" + std::to_string(made.size()), kScale});
  named.op.name = named.name;
  return named.op;
}

/// Two tensors of n elements, x = 0, 1, 2, ...
inline Inputs<Scale::Args> counting_inputs(std::int64_t n, int factor = 2) {
  Rng rng(1);
  Inputs<Scale::Args> inputs = Scale::make_inputs({n, factor}, rng);
  for (std::int64_t i = 0; i < n; ++i) {
    inputs.args.x.data_as<float>()[i] = static_cast<float>(i);
  }
  return inputs;
}

}  // namespace einkorn::test
