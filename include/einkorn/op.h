#pragma once

// What an op and a variant are: the contract a kernel author writes, and the plain tables that the
// registry, the tests, the benchmarks and the command line read.

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <einkorn/device.h>
#include <einkorn/fields.h>
#include <einkorn/plan.h>
#include <einkorn/signature.h>
#include <einkorn/tensor.h>

namespace einkorn {

/// How far a result may be from the reference: |got - want| <= absolute + relative * |want|,
/// element by element; NaN matches NaN only, an infinity its equal only.
///
/// With `rms` above 0 it is each output as a whole that is bounded, as fits sums of many terms that
/// cancel: sqrt(mean((got - want)^2)) <= rms * max(sqrt(mean(want^2)), absolute), means over the
/// elements that are finite in both; `relative` is then not looked at.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
  double rms = 0;
};

/// A named shape of a real model. Level 0 runs on every change on the CPU, 1 in CI, 2 on a GPU,
/// 3 only when asked for: large or slow.
struct Case {
  std::string_view name;  ///< e.g. "llama3_8b_prefill"
  int level;
  std::string_view keys;  ///< as on the command line: "rows=8192 cols=4096 dtype=bf16"
};

/// A tensor argument by name; `view` points into the arguments it was listed from.
struct NamedTensor {
  std::string_view name;
  Role role;
  TensorView* view;
};

/// Reproducible random numbers (splitmix64): the same seed gives the same tensors everywhere.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

/// Arguments together with the memory behind them.
template <class Args>
struct Inputs {
  Args args;
  std::vector<Tensor> storage;
};

/// The contract of an op, as its author writes it. `Args` also declares its members: `arguments()`
/// as in signature.h. A contract with problems that only the reference serves says why, once for
/// all its variants: `static std::optional<Refusal> for_reference_only(const Problem&)`. One whose
/// problem depends on elements of a tensor, not only on where and what it is, says for which calls:
/// `static bool reads_elements(const Args&)`; these are matched each time. Its match() may take the
/// call's stream as well, behind whose work the elements are there to be read.
template <class C>
concept Contract =
    requires(const typename C::Args& args, const typename C::Problem& problem, Rng& rng) {
      { C::kName } -> std::convertible_to<std::string_view>;
      { C::kFamily } -> std::convertible_to<std::string_view>;
      { C::kSummary } -> std::convertible_to<std::string_view>;
      { C::match(args) } -> std::same_as<typename C::Problem>;
      { C::device(args) } -> std::same_as<Device>;
      C::Args::arguments();
      { C::parse(KeyValues{}) } -> std::same_as<typename C::Problem>;
      { C::print(problem) } -> std::same_as<std::string>;
      { C::work(problem) } -> std::same_as<Work>;
      { C::tolerance(problem) } -> std::same_as<Tolerance>;
      { C::cases() } -> std::same_as<std::span<const Case>>;
      { C::make_inputs(problem, rng) } -> std::same_as<Inputs<typename C::Args>>;
      C::reference(args);
      { problem == problem } -> std::same_as<bool>;
    };

/// Type-erased arguments with their memory.
struct CaseData {
  std::shared_ptr<void> args;
  std::vector<Tensor> storage;
};

/// A problem whose type only its op knows.
class AnyProblem {
 public:
  AnyProblem() = default;
  explicit AnyProblem(std::shared_ptr<const void> value) : value_(std::move(value)) {}
  const void* get() const { return value_.get(); }

 private:
  std::shared_ptr<const void> value_;
};

struct Variant;

/// An op as plain functions. `problem` and `args` point to the contract's own types.
struct OpDef {
  std::string_view name;
  std::string_view family;
  std::string_view summary;
  std::vector<Key> (*keys)();
  std::vector<ArgumentInfo> (*arguments)();
  AnyProblem (*parse)(const KeyValues& pairs);
  AnyProblem (*match)(const void* args);
  std::string (*print)(const void* problem);
  Work (*work)(const void* problem);
  Tolerance (*tolerance)(const void* problem);
  std::optional<Refusal> (*for_reference_only)(const void* problem);
  std::span<const Case> (*cases)();
  CaseData (*make_inputs)(const void* problem, Rng& rng);  ///< on the CPU
  std::size_t args_size;                                   ///< bytes, at most kMaxArgsBytes
  void (*make_args)(void* args);  ///< builds the defaults in args_size bytes, aligned to 16
  std::shared_ptr<void> (*copy_args)(const void* args);
  std::vector<NamedTensor> (*tensors)(void* args);
  void (*reference)(const void* args);
  /// Runs args through the op's public entry point (match, plan cache, launch).
  void (*call)(const void* args, Stream stream, std::string_view variant);
  const Variant* reference_variant;  ///< the reference as the last choice on a CPU
};

/// One implementation as plain data. Made by make_variant; named by one line in a list.
struct Variant {
  std::string_view op;
  std::string_view arch;    ///< a row of ops/arches.inc
  std::string_view design;  ///< e.g. "bulk"
  int version;
  std::string_view language;  ///< "cpp", "cuda", "cute", "python"
  std::string_view summary;
  /// What the methods below run, each given `context`.
  struct Code {
    std::optional<Refusal> (*supports)(const void* context, const void* problem,
                                       const DeviceInfo& device);
    std::vector<std::string> (*tilings)(const void* context, const void* problem,
                                        const DeviceInfo& device);
    std::optional<Refusal> (*validate)(const void* context, const void* problem,
                                       const DeviceInfo& device, std::string_view tiling);
    Plan (*plan)(const void* context, const void* problem, const DeviceInfo& device,
                 std::string_view tiling);
  } code;
  /// Whether a row's result has the same bits however many other rows there are, with every tiling
  /// that the heuristic gives for the row's length.
  bool batch_invariant = false;
  const void* context = nullptr;        ///< of a variant that is not a class of its own
  std::string_view source_digest = {};  ///< of one whose code is in no object file: of its source

  std::optional<Refusal> supports(const void* problem, const DeviceInfo& device) const {
    return code.supports(context, problem, device);
  }
  /// Candidates, printed; the first is the heuristic's choice. Never empty for a supported problem.
  std::vector<std::string> tilings(const void* problem, const DeviceInfo& device) const {
    return code.tilings(context, problem, device);
  }
  /// Why a printed tiling, a candidate or not, cannot be had. ValueError: it does not parse.
  std::optional<Refusal> validate(const void* problem, const DeviceInfo& device,
                                  std::string_view tiling) const {
    return code.validate(context, problem, device, tiling);
  }
  /// The plan with a printed tiling; empty: the heuristic's. ValueError: it does not parse, or
  /// validate() refuses it, with the reason.
  Plan plan(const void* problem, const DeviceInfo& device, std::string_view tiling) const {
    return code.plan(context, problem, device, tiling);
  }

  std::string name() const;  ///< "sm90/bulk_v1"
  std::string id() const;    ///< "rms_norm/sm90/bulk_v1"
};

template <class C>
struct ReferenceVariant;

namespace detail {

/// A tiling as print_fields() gives it. ValueError: unknown key, bad value.
template <class Tiling>
Tiling parse_tiling(std::string_view variant, std::string_view text) {
  return parse_fields<Tiling>(std::string(variant) + ": tiling", split_key_values(text));
}

template <class Tiling>
std::string print_tiling(const Tiling& tiling) {
  return print_fields(tiling, static_cast<std::size_t>(-1));
}

/// V::validate, or, where the author wrote none, whether the tiling is among V's candidates.
template <class V, class Problem>
std::optional<Refusal> validate_tiling(const Problem& problem, const typename V::Tiling& tiling,
                                       const DeviceInfo& device) {
  if constexpr (requires { V::validate(problem, tiling, device); }) {
    return V::validate(problem, tiling, device);
  } else {
    for (const auto& candidate : V::tilings(problem, device)) {
      if (candidate == tiling) return std::nullopt;
    }
    return Refusal{"it is not among the variant's candidates"};
  }
}

template <class C>
std::optional<Refusal> for_reference_only(const typename C::Problem& problem) {
  if constexpr (requires { C::for_reference_only(problem); }) {
    return C::for_reference_only(problem);
  } else {
    return std::nullopt;
  }
}

[[noreturn]] void throw_refused_tiling(std::string_view variant, std::string_view tiling,
                                       std::string_view reason);

}  // namespace detail

/// What a variant's author writes, gathered in one class V:
///   struct Tiling { ...; static constexpr auto fields(); bool operator==(...) };
///   static std::optional<Refusal> supports(const Problem&, const DeviceInfo&);
///   static std::vector<Tiling> tilings(const Problem&, const DeviceInfo&);
///   static Plan plan(const Problem&, const Tiling&, const DeviceInfo&);
/// and, unless only the candidates of `tilings` are ever right,
///   static std::optional<Refusal> validate(const Problem&, const Tiling&, const DeviceInfo&);
/// which says why a tiling does not fit problem or device, whoever thought of it. `tilings` gives
/// those worth a trial, each of them valid, the heuristic's choice first. A class may declare
///   static constexpr bool kBatchInvariant = true;
template <class C, class V>
constexpr Variant make_variant(std::string_view arch, std::string_view design, int version,
                               std::string_view language, std::string_view summary) {
  using Problem = typename C::Problem;
  using Tiling = typename V::Tiling;
  constexpr Variant::Code kCode{
      [](const void*, const void* problem, const DeviceInfo& device) {
        const auto& typed = *static_cast<const Problem*>(problem);
        if constexpr (!std::same_as<V, ReferenceVariant<C>>) {
          if (auto refusal = detail::for_reference_only<C>(typed)) return refusal;
        }
        return V::supports(typed, device);
      },
      [](const void*, const void* problem, const DeviceInfo& device) {
        std::vector<std::string> out;
        for (const Tiling& tiling : V::tilings(*static_cast<const Problem*>(problem), device)) {
          out.push_back(detail::print_tiling(tiling));
        }
        return out;
      },
      [](const void*, const void* problem, const DeviceInfo& device, std::string_view text) {
        return detail::validate_tiling<V>(*static_cast<const Problem*>(problem),
                                          detail::parse_tiling<Tiling>(C::kName, text), device);
      },
      [](const void*, const void* problem, const DeviceInfo& device, std::string_view text) {
        const auto& typed = *static_cast<const Problem*>(problem);
        const Tiling tiling = text.empty() ? V::tilings(typed, device).at(0)
                                           : detail::parse_tiling<Tiling>(C::kName, text);
        if (!text.empty()) {
          if (const auto refusal = detail::validate_tiling<V>(typed, tiling, device)) {
            detail::throw_refused_tiling(C::kName, text, refusal->reason);
          }
        }
        Plan plan = V::plan(typed, tiling, device);
        plan.tiling = detail::print_tiling(tiling);
        return plan;
      }};
  Variant variant{C::kName, arch, design, version, language, summary, kCode};
  if constexpr (requires { V::kBatchInvariant; }) variant.batch_invariant = V::kBatchInvariant;
  return variant;
}

/// The reference as a variant: serves every problem on the CPU.
template <class C>
struct ReferenceVariant {
  static constexpr bool kBatchInvariant = true;  // one thread, a row after the other
  struct Tiling {
    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() { return std::tuple{}; }
  };
  static std::optional<Refusal> supports(const typename C::Problem&, const DeviceInfo&) {
    return std::nullopt;
  }
  static std::vector<Tiling> tilings(const typename C::Problem&, const DeviceInfo&) {
    return {Tiling{}};
  }
  static Plan plan(const typename C::Problem&, const Tiling&, const DeviceInfo&) {
    struct None {};
    Plan out;
    out.stages.emplace_back(host_stage<typename C::Args, None>(
        "reference", None{},
        [](const typename C::Args& args, const None&) { C::reference(args); }));
    return out;
  }
  static constexpr Variant kVariant = make_variant<C, ReferenceVariant>(
      "cpu", "reference", 1, "cpp", "the contract's own reference, in double: slow, obvious");
};

/// Fills an OpDef from a contract; `call` is the op's public entry point.
template <Contract C>
constexpr OpDef make_op(void (*call)(const void*, Stream, std::string_view)) {
  using Args = typename C::Args;
  using Problem = typename C::Problem;
  static_assert(std::is_trivially_copyable_v<Args> && sizeof(Args) <= kMaxArgsBytes &&
                alignof(Args) <= 16);
  return OpDef{
      C::kName,
      C::kFamily,
      C::kSummary,
      [] { return C::keys(); },
      [] { return describe_arguments<Args>(); },
      [](const KeyValues& pairs) {
        return AnyProblem(std::make_shared<const Problem>(C::parse(pairs)));
      },
      [](const void* args) {
        return AnyProblem(
            std::make_shared<const Problem>(C::match(*static_cast<const Args*>(args))));
      },
      [](const void* problem) { return C::print(*static_cast<const Problem*>(problem)); },
      [](const void* problem) { return C::work(*static_cast<const Problem*>(problem)); },
      [](const void* problem) { return C::tolerance(*static_cast<const Problem*>(problem)); },
      [](const void* problem) {
        return detail::for_reference_only<C>(*static_cast<const Problem*>(problem));
      },
      [] { return C::cases(); },
      [](const void* problem, Rng& rng) {
        Inputs<Args> inputs = C::make_inputs(*static_cast<const Problem*>(problem), rng);
        return CaseData{std::make_shared<Args>(inputs.args), std::move(inputs.storage)};
      },
      sizeof(Args),
      [](void* args) { new (args) Args{}; },
      [](const void* args) -> std::shared_ptr<void> {
        return std::make_shared<Args>(*static_cast<const Args*>(args));
      },
      [](void* args) {
        std::vector<NamedTensor> out;
        for_each_tensor(*static_cast<Args*>(args),
                        [&](std::string_view name, Role role, TensorView& view) {
                          if (view.defined()) out.push_back({name, role, &view});
                        });
        return out;
      },
      [](const void* args) { C::reference(*static_cast<const Args*>(args)); },
      call,
      &ReferenceVariant<C>::kVariant};
}

}  // namespace einkorn
