#pragma once

// An op from outside the tree, with everything an op has: the contract, one variant, the tables.
// Only einkorn's public headers are needed.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <einkorn/dispatch.h>
#include <einkorn/match.h>
#include <einkorn/op.h>
#include <einkorn/registry.h>

namespace scale_add {

using einkorn::DeviceInfo;
using einkorn::Plan;
using einkorn::Refusal;

/// y = scale * x + shift, in f32.
struct ScaleAdd {
  static constexpr std::string_view kName = "scale_add";
  static constexpr std::string_view kFamily = "example";
  static constexpr std::string_view kSummary = "y = scale * x + shift, from outside the tree";

  struct Args {
    einkorn::TensorView x;  ///< [n] f32, contiguous
    einkorn::TensorView y;  ///< out, like x; may be exactly x
    float scale = 1;
    float shift = 0;

    static constexpr auto arguments() {
      return std::tuple{
          einkorn::input("x", &Args::x, "[n], f32, contiguous"),
          einkorn::output("y", &Args::y, einkorn::Like{"x"}, "like x; may be exactly x"),
          einkorn::scalar("scale", &Args::scale, "a factor"),
          einkorn::scalar("shift", &Args::shift, "added to the product")};
    }
  };

  struct Problem {
    std::int64_t n = 4096;

    bool operator==(const Problem&) const = default;
    static constexpr auto fields() {
      return std::tuple{einkorn::field("n", &Problem::n, "elements", 0, 0x1p40)};
    }
  };

  static Problem match(const Args& args) {
    einkorn::Dim n{"n"};
    einkorn::DeviceVar device;
    einkorn::match(kName, "x", args.x)
        .shape(n)
        .dtype(einkorn::kF32)
        .on(device)
        .contiguous()
        .verify();
    einkorn::match(kName, "y", args.y)
        .shape(n)
        .dtype(einkorn::kF32)
        .on(device)
        .contiguous()
        .writable()
        .verify();
    einkorn::check_overlap(kName, "y", args.y, "x", args.x, einkorn::Overlap::kExactOrNone);
    return {n.value()};
  }
  static einkorn::Device device(const Args& args) { return args.x.device(); }
  static std::vector<einkorn::Key> keys() { return einkorn::describe_fields<Problem>(); }
  static Problem parse(const einkorn::KeyValues& pairs) {
    return einkorn::parse_fields<Problem>(kName, pairs);
  }
  static std::string print(const Problem& problem) { return einkorn::print_fields(problem, 1); }

  static einkorn::Work work(const Problem& problem) {
    const auto n = static_cast<double>(problem.n);
    return {2 * n, 2 * n, 8 * n, 8 * n, problem.n > 0 ? 1 : 0};
  }
  /// Product and sum round once each, and make_inputs() gives positive terms: nothing cancels.
  static einkorn::Tolerance tolerance(const Problem&) { return {2 * 0x1p-24, 0}; }
  static std::span<const einkorn::Case> cases() {
    static constexpr einkorn::Case kCases[] = {
        {"empty", 0, "n=0"}, {"odd", 0, "n=1003"}, {"large", 1, "n=1048576"}};
    return kCases;
  }
  static einkorn::Inputs<Args> make_inputs(const Problem& problem, einkorn::Rng& rng) {
    using einkorn::Tensor;
    einkorn::Inputs<Args> inputs;
    for (int i = 0; i < 2; ++i) {
      inputs.storage.push_back(Tensor::empty({problem.n}, einkorn::kF32, einkorn::kCpuDevice));
    }
    inputs.args = {inputs.storage[0], inputs.storage[1], 1.5F, 0.25F};
    auto* x = inputs.args.x.data_as<float>();
    for (std::int64_t i = 0; i < problem.n; ++i) x[i] = static_cast<float>(rng.uniform());
    return inputs;
  }
  /// Writes y in f32, or in f64 for a comparison without the last rounding.
  static void reference(const Args& args) {
    const auto* x = args.x.data_as<const float>();
    for (std::int64_t i = 0; i < args.x.size(0); ++i) {
      const double y = double{args.scale} * double{x[i]} + double{args.shift};
      if (args.y.dtype() == einkorn::kF64) {
        args.y.data_as<double>()[i] = y;
      } else {
        args.y.data_as<float>()[i] = static_cast<float>(y);
      }
    }
  }
};

inline void run(const ScaleAdd::Args& args, einkorn::Stream stream, std::string_view variant = {}) {
  einkorn::dispatch<ScaleAdd>(args, stream, variant);
}

inline constexpr einkorn::OpDef kDefinition = einkorn::make_op<ScaleAdd>(
    [](const void* args, einkorn::Stream stream, std::string_view variant) {
      run(*static_cast<const ScaleAdd::Args*>(args), stream, variant);
    });

/// cpu/simple_v1: one loop.
struct SimpleV1 {
  struct Tiling {
    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() { return std::tuple{}; }
  };
  struct State {};

  static std::optional<Refusal> supports(const ScaleAdd::Problem& problem, const DeviceInfo&) {
    if (problem.n > (std::int64_t{1} << 24)) {
      return Refusal{"n " + std::to_string(problem.n) + " > 16777216, too long for one thread"};
    }
    return std::nullopt;
  }
  static std::vector<Tiling> tilings(const ScaleAdd::Problem&, const DeviceInfo&) {
    return {Tiling{}};
  }
  static Plan plan(const ScaleAdd::Problem& problem, const Tiling&, const DeviceInfo&) {
    Plan out;
    if (problem.n == 0) return out;
    out.stages.emplace_back(einkorn::host_stage<ScaleAdd::Args, State>(
        "simple_v1", State{}, [](const ScaleAdd::Args& args, const State&) {
          const auto* x = args.x.data_as<const float>();
          auto* y = args.y.data_as<float>();
          const std::int64_t n = args.x.size(0);
          for (std::int64_t i = 0; i < n; ++i) y[i] = args.scale * x[i] + args.shift;
        }));
    return out;
  }
};

inline constexpr einkorn::Variant kSimple =
    einkorn::make_variant<ScaleAdd, SimpleV1>("cpu", "simple", 1, "cpp", "one loop, one thread");

}  // namespace scale_add
