#pragma once

// An op small enough to get wrong on purpose: y = 2 * x, rows with gaps in y.

#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <einkorn/error.h>
#include <einkorn/op.h>
#include <einkorn/registry.h>

namespace einkorn::toy {

struct Twice {
  static constexpr std::string_view kName = "twice";
  static constexpr std::string_view kFamily = "toy";
  static constexpr std::string_view kSummary = "y = 2 * x";

  struct Args {
    TensorView x;  ///< [rows, cols] f32
    TensorView y;  ///< out, like x; may be exactly x

    static constexpr auto arguments() {
      return std::tuple{input("x", &Args::x, "[rows, cols], f32"),
                        output("y", &Args::y, Like{"x"}, "like x; may be exactly x")};
    }
  };
  struct Problem {
    std::int64_t rows = 3;
    std::int64_t cols = 5;
    std::int64_t gap = 0;  ///< elements between y's rows
    bool operator==(const Problem&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("rows", &Problem::rows, "", 0, 1000),
                        field("cols", &Problem::cols, "", 1, 1000),
                        field("gap", &Problem::gap, "", 0, 1000)};
    }
  };

  static Problem match(const Args& args) {
    return {args.x.size(0), args.x.size(1), args.y.stride(0) - args.y.size(1)};
  }
  static Device device(const Args& args) { return args.x.device(); }
  static std::vector<Key> keys() { return describe_fields<Problem>(); }
  static Problem parse(const KeyValues& pairs) { return parse_fields<Problem>(kName, pairs); }
  static std::string print(const Problem& problem) { return print_fields(problem, 2); }
  static Work work(const Problem& problem) {
    const auto count = static_cast<double>(problem.rows * problem.cols);
    return {count, count, 8 * count, 8 * count, 1};
  }
  static Tolerance tolerance(const Problem&) { return {1e-6, 1e-6}; }
  static std::span<const Case> cases() {
    static constexpr Case kCases[] = {{"small", 0, "rows=3 cols=5 gap=2"},
                                      {"large", 2, "rows=100 cols=50"}};
    return kCases;
  }
  static Inputs<Args> make_inputs(const Problem& problem, Rng& rng) {
    Inputs<Args> out;
    const std::int64_t width = problem.cols + problem.gap;
    out.storage.push_back(Tensor::empty({problem.rows, problem.cols}, kF32, kCpuDevice));
    out.storage.push_back(Tensor::empty({problem.rows, width}, kF32, kCpuDevice));
    out.args.x = out.storage[0].view();
    out.args.y = out.storage[1].view().slice(1, 0, problem.cols);
    for (std::int64_t i = 0; i < out.args.x.numel(); ++i) {
      out.args.x.data_as<float>()[i] = static_cast<float>(rng.uniform() + 1);
    }
    out.storage[1].fill_bytes(0);
    return out;
  }
  static void reference(const Args& args) {
    each(args, [&](std::int64_t from, std::int64_t to) {
      const float value = args.x.data_as<const float>()[from];
      if (args.y.dtype() == kF64) {
        args.y.data_as<double>()[to] = 2.0 * static_cast<double>(value);
      } else {
        args.y.data_as<float>()[to] = 2 * value;
      }
    });
  }

  /// Calls f(offset in x, offset in y) for each element.
  template <class F>
  static void each(const Args& args, F&& f) {
    for (std::int64_t row = 0; row < args.x.size(0); ++row) {
      for (std::int64_t col = 0; col < args.x.size(1); ++col) {
        f(row * args.x.stride(0) + col, row * args.y.stride(0) + col);
      }
    }
  }
};

struct None {};

/// A variant on the CPU whose one stage runs a plain function.
template <void (*kRun)(const Twice::Args&)>
struct Impl {
  struct Tiling {
    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() { return std::tuple{}; }
  };
  static std::optional<Refusal> supports(const Twice::Problem& problem, const DeviceInfo&) {
    if (problem.rows > 500) return Refusal{"rows 501 > 500"};
    return std::nullopt;
  }
  static std::vector<Tiling> tilings(const Twice::Problem&, const DeviceInfo&) {
    return {Tiling{}};
  }
  static Plan plan(const Twice::Problem&, const Tiling&, const DeviceInfo&) {
    Plan out;
    out.stages.emplace_back(host_stage<Twice::Args, None>(
        "toy", None{}, [](const Twice::Args& args, const None&) { kRun(args); }));
    return out;
  }
};

template <void (*kRun)(const Twice::Args&)>
inline constexpr Variant kVariant =
    make_variant<Twice, Impl<kRun>>("cpu", "toy", 1, "cpp", "for a test");

inline constexpr OpDef kTwice = make_op<Twice>([](const void* args, Stream, std::string_view) {
  Twice::reference(*static_cast<const Twice::Args*>(args));
});

/// The op with these variants.
inline OpEntry entry(std::vector<const Variant*> variants = {}) {
  return {&kTwice, std::move(variants)};
}

inline AnyProblem problem(std::string_view keys) { return kTwice.parse(split_key_values(keys)); }

}  // namespace einkorn::toy
