// A new op: y = scale * x. Small, complete, and correct, so that its author changes one thing at a
// time and always has something that passes.

#include "src/versions/templates.h"

namespace einkorn::versions {

constexpr OpTemplate kOpContractHeader{"contract.h", R"(#pragma once

// @op@: TODO(you): the formula and its source.
//
//   y = scale * x
//
// TODO(you): where intermediate results are rounded. Here: the product, once, to f32.

@include@ <cstdint>
@include@ <span>
@include@ <string>
@include@ <string_view>
@include@ <tuple>
@include@ <vector>

@include@ <einkorn/op.h>

namespace einkorn {

struct @Op@ {
  static constexpr std::string_view kName = "@op@";
  static constexpr std::string_view kFamily = "@family@";
  static constexpr std::string_view kSummary = "y = scale * x";  // TODO(you)

  static constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

  // TODO(you): tensors and scalars; every output is an argument.
  struct Args {
    TensorView x;      ///< [n], f32, contiguous
    TensorView y;      ///< out, like x; may be exactly x
    double scale = 1;  ///< finite as f32

    static constexpr auto arguments() {
      return std::tuple{input("x", &Args::x, "[n], f32, contiguous"),
                        output("y", &Args::y, Like{"x"}, "like x; may be exactly x"),
                        scalar("scale", &Args::scale, "finite as f32")};
    }
  };

  // TODO(you): what a plan depends on. A scalar that only travels to the kernel is no part of it.
  struct Problem {
    std::int64_t n = 4096;

    bool operator==(const Problem&) const = default;

    static constexpr auto fields() {
      return std::tuple{field("n", &Problem::n, "elements", 0, double{kMaxElements})};
    }
  };

  /// Checks every argument and says what the call is. TypeError: missing tensor, rank, dtype,
  /// device. ValueError: sizes, strides, overlap, scale.
  static Problem match(const Args& args);
  static Device device(const Args& args) { return args.x.device(); }

  static std::vector<Key> keys();
  static Problem parse(const KeyValues& pairs);
  static std::string print(const Problem& problem);

  static Work work(const Problem& problem);
  static Tolerance tolerance(const Problem& problem);
  /// Outputs of the contract's dtype or f64. CPU only.
  static void reference(const Args& args);
  static std::span<const Case> cases();
  static Inputs<Args> make_inputs(const Problem& problem, Rng& rng);
};

namespace @op@ {

/// Computes y on `stream`. `variant` names one; empty: the best that serves. Nothing is written
/// when an argument is refused.
void run(const @Op@::Args& args, Stream stream, std::string_view variant = {});

/// Selects, compiles and loads what run() would use, so that run() can be captured in a graph.
void prepare(const @Op@::Args& args, Stream stream, std::string_view variant = {});

}  // namespace @op@
}  // namespace einkorn
)"};

constexpr OpTemplate kOpContractSource{"contract.cc", R"(@include@ "@folder@/contract.h"

@include@ <cmath>
@include@ <limits>

@include@ <einkorn/dispatch.h>
@include@ <einkorn/error.h>
@include@ <einkorn/match.h>
@include@ <fmt/format.h>

namespace einkorn {

// TODO(you): check everything; a message says what was expected and what came.
@Op@::Problem @Op@::match(const Args& args) {
  Dim n{"n", Range{0, kMaxElements}};
  DeviceVar device;
  einkorn::match(kName, "x", args.x).shape(n).dtype(kF32).on(device).contiguous().verify();
  einkorn::match(kName, "y", args.y)
      .shape(n)
      .dtype(kF32)
      .on(device)
      .contiguous()
      .writable()
      .verify();
  // Written so that NaN fails, too.
  EK_CHECK(
      std::abs(args.scale) <= double{std::numeric_limits<float>::max()}, ErrorKind::kValue,
      fmt::format("@op@: scale value: expected a finite f32 number, got {}", args.scale));
  check_overlap(kName, "y", args.y, "x", args.x, Overlap::kExactOrNone);
  return {n.value()};
}

std::vector<Key> @Op@::keys() { return describe_fields<Problem>(); }

@Op@::Problem @Op@::parse(const KeyValues& pairs) {
  return parse_fields<Problem>(kName, pairs);
}

std::string @Op@::print(const Problem& problem) { return print_fields(problem, 1); }

// TODO(you): useful flops; every input read once, every output written once.
Work @Op@::work(const Problem& problem) {
  const auto elements = static_cast<double>(problem.n);
  Work work;
  work.useful_flops = work.executed_flops = elements;
  work.min_bytes = work.est_bytes = elements * 2 * 4;
  work.launches = problem.n > 0 ? 1 : 0;
  return work;
}

// TODO(you): derive it by counting roundings. Here: scale to f32 (2^-24) and the product (2^-24);
// the absolute part is for products below the normal range, which may be flushed to 0.
Tolerance @Op@::tolerance(const Problem&) { return {2 * 0x1p-24, 0x1p-126}; }

namespace @op@ {

void run(const @Op@::Args& args, Stream stream, std::string_view variant) {
  dispatch<@Op@>(args, stream, variant);
}

void prepare(const @Op@::Args& args, Stream stream, std::string_view variant) {
  einkorn::prepare<@Op@>(args, stream, variant);
}

// NOLINTNEXTLINE(readability-identifier-naming): the name that ops/variants.inc expands to
extern const OpDef definition;
constexpr OpDef definition =
    make_op<@Op@>([](const void* args, Stream stream, std::string_view variant) {
      run(*static_cast<const @Op@::Args*>(args), stream, variant);
    });

}  // namespace @op@
}  // namespace einkorn
)"};

constexpr OpTemplate kOpReference{
    "reference.cc",
    R"(// The contract of @op@ in double: what every variant is held against.

@include@ "@folder@/contract.h"
@include@ "src/cpu/elements.h"

namespace einkorn {

// TODO(you): slow and obvious, with the contract's rounding points.
void @Op@::reference(const Args& args) {
  const auto scale = static_cast<double>(static_cast<float>(args.scale));
  cpu::visit_float(args.y.dtype(), [&](auto y_type) {
    for (std::int64_t i = 0; i < args.x.numel(); ++i) {
      const auto x = static_cast<double>(args.x.data_as<float>()[i]);
      decltype(y_type)::store(args.y.data(), i, scale * x);
    }
  });
}

}  // namespace einkorn
)"};

constexpr OpTemplate kOpCases{"cases.cc",
                              R"(// The cases of @op@ and the tensors that stand for them.

@include@ "@folder@/contract.h"

namespace einkorn {

std::span<const Case> @Op@::cases() {
#define EK_CASE(name, level, keys) {#name, level, keys},
  static constexpr Case kCases[] = {
@include@ "@folder@/cases.inc"
  };
#undef EK_CASE
  return kCases;
}

// TODO(you): values such that a forgotten term shows.
Inputs<@Op@::Args> @Op@::make_inputs(const Problem& problem, Rng& rng) {
  Inputs<Args> inputs;
  for (int i = 0; i < 2; ++i) {
    inputs.storage.push_back(Tensor::empty({problem.n}, kF32, kCpuDevice));
  }
  inputs.args = {inputs.storage[0], inputs.storage[1], 1.5};
  auto* x = inputs.args.x.data_as<float>();
  for (std::int64_t i = 0; i < problem.n; ++i) x[i] = static_cast<float>(rng.uniform() - 0.5);
  return inputs;
}

}  // namespace einkorn
)"};

constexpr OpTemplate kOpCaseList{
    "cases.inc",
    R"(// TODO(you): shapes of real models, and the odd ones: EK_CASE(name, level, keys).
// Levels: 0 on every change on the CPU, 1 in CI, 2 on a GPU, 3 when asked for.
EK_CASE(empty, 0, "n=0")
EK_CASE(one, 0, "n=1")
EK_CASE(odd, 0, "n=1003")
EK_CASE(large, 1, "n=1048576")
)"};

constexpr OpTemplate kOpVariantList{
    "variants.inc", R"(// @op@: variants in order of preference; the first that agrees serves.
EK_OP(@op@)
)"};

constexpr OpTemplate kOpReadme{"README.md", R"(# @op@

TODO(you): what it is, for whom.

    y = scale * x

## Arguments

| argument | shape | dtype | |
|---|---|---|---|
| `x` | [n] | f32 | contiguous |
| `y` | [n] | f32 | out; may be exactly `x` |
| `scale` | | number | finite as f32 |

## Rounding

`scale` is rounded to f32, the product once.

## Variants

In order of preference; the first that agrees serves.

<!-- variants -->
| variant, in order of preference | language | what it is |
|---|---|---|
| `cpu/reference_v1` | cpp | the contract's own reference, in double |
<!-- /variants -->
)"};

}  // namespace einkorn::versions
