// Checks of an op that reads and writes a tensor in place: it starts from the same content in every
// run and for the reference, and all of it is compared.

#include <string>
#include <tuple>
#include <vector>

#include <einkorn/op.h>
#include <einkorn/registry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/float.h"
#include "src/measure/check.h"
#include "src/measure/memory.h"

namespace einkorn::measure {
namespace {

using testing::HasSubstr;

/// state += x, in bf16; the first `kUsed` elements, the others are left alone.
struct Accumulate {
  static constexpr std::string_view kName = "accumulate";
  static constexpr std::string_view kFamily = "toy";
  static constexpr std::string_view kSummary = "state += x";
  static constexpr std::int64_t kUsed = 4;

  struct Args {
    TensorView x;      ///< [count], f32
    TensorView state;  ///< in place, [count], bf16

    static constexpr auto arguments() {
      return std::tuple{input("x", &Args::x, "[count], f32"),
                        inout("state", &Args::state, "[count], bf16")};
    }
  };
  struct Problem {
    std::int64_t count = 6;
    bool operator==(const Problem&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("count", &Problem::count, "", kUsed, 1000)};
    }
  };

  static Problem match(const Args& args) { return {args.x.size(0)}; }
  static Device device(const Args& args) { return args.x.device(); }
  static std::vector<Key> keys() { return describe_fields<Problem>(); }
  static Problem parse(const KeyValues& pairs) { return parse_fields<Problem>(kName, pairs); }
  static std::string print(const Problem& problem) { return print_fields(problem, 1); }
  static Work work(const Problem&) { return {kUsed, kUsed, 8 * kUsed, 8 * kUsed, 1}; }
  static Tolerance tolerance(const Problem&) { return {0x1p-8, 0}; }
  static std::span<const Case> cases() { return {}; }
  static Inputs<Args> make_inputs(const Problem& problem, Rng& rng) {
    Inputs<Args> out;
    out.storage.push_back(Tensor::empty({problem.count}, kF32, kCpuDevice));
    out.storage.push_back(Tensor::empty({problem.count}, kBF16, kCpuDevice));
    out.args = {out.storage[0].view(), out.storage[1].view()};
    for (std::int64_t i = 0; i < problem.count; ++i) {
      store_from_double(out.args.x, i, rng.uniform() + 1);
      store_from_double(out.args.state, i, rng.uniform() + 1);
    }
    return out;
  }
  static void reference(const Args& args) {
    for (std::int64_t i = 0; i < kUsed; ++i) add(args, i, 1);
  }
  static void add(const Args& args, std::int64_t i, double factor) {
    store_from_double(args.state, i,
                      load_as_double(args.state, i) + factor * load_as_double(args.x, i));
  }
};

struct None {};

template <void (*kRun)(const Accumulate::Args&)>
struct Impl {
  struct Tiling {
    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() { return std::tuple{}; }
  };
  static std::optional<Refusal> supports(const Accumulate::Problem&, const DeviceInfo&) {
    return std::nullopt;
  }
  static std::vector<Tiling> tilings(const Accumulate::Problem&, const DeviceInfo&) {
    return {Tiling{}};
  }
  static Plan plan(const Accumulate::Problem&, const Tiling&, const DeviceInfo&) {
    Plan out;
    out.stages.emplace_back(host_stage<Accumulate::Args, None>(
        "toy", None{}, [](const Accumulate::Args& args, const None&) { kRun(args); }));
    return out;
  }
};

constexpr OpDef kAccumulate = make_op<Accumulate>([](const void* args, Stream, std::string_view) {
  Accumulate::reference(*static_cast<const Accumulate::Args*>(args));
});

template <void (*kRun)(const Accumulate::Args&)>
CheckResult checked() {
  static constexpr Variant kVariant =
      make_variant<Accumulate, Impl<kRun>>("cpu", "toy", 1, "cpp", "for a test");
  const OpEntry entry{&kAccumulate, {&kVariant}};
  return check_problem(entry, kVariant, kAccumulate.parse({}), "a case", kCpuDevice, 1);
}

void right(const Accumulate::Args& args) { Accumulate::reference(args); }

void untouched(const Accumulate::Args&) {}

void twice(const Accumulate::Args& args) {
  for (std::int64_t i = 0; i < Accumulate::kUsed; ++i) Accumulate::add(args, i, 2);
}

void what_was_to_be_left_alone(const Accumulate::Args& args) {
  Accumulate::reference(args);
  Accumulate::add(args, 5, 1);
}

void the_input(const Accumulate::Args& args) {
  Accumulate::reference(args);
  args.x.data_as<float>()[0] = 0;
}

void past_the_end(const Accumulate::Args& args) {
  Accumulate::reference(args);
  args.state.data_as<std::uint16_t>()[args.state.size(0)] = 0;
}

TEST(InOut, RightOnesPass) {
  const CheckResult result = checked<right>();
  EXPECT_EQ(result.status, Status::kPass) << result.reason;
  EXPECT_GT(result.error, 0);  // compared with sums that were not rounded to bf16
}

TEST(InOut, WrongOnesFailWithTheElement) {
  EXPECT_THAT(checked<untouched>().reason, HasSubstr("state[1]: got 1.44"));
  EXPECT_THAT(checked<twice>().reason, HasSubstr("state["));
  EXPECT_THAT(checked<what_was_to_be_left_alone>().reason, HasSubstr("state[5]: got"));
}

TEST(InOut, WritesElsewhereFail) {
  EXPECT_THAT(checked<the_input>().reason, HasSubstr("input x was changed"));
  EXPECT_THAT(checked<past_the_end>().reason,
              HasSubstr("wrote 0 bytes after the end of the memory of state"));
}

TEST(InOut, ContentIsNotPoisonedAndTheReferenceHasItInDouble) {
  Rng rng(1);
  const CaseData data = kAccumulate.make_inputs(kAccumulate.parse({}).get(), rng);
  const CaseData poisoned = clone_to(kAccumulate, data, kCpuDevice);
  poison_outputs(kAccumulate, poisoned, 0xff);
  EXPECT_EQ(find_difference(kAccumulate, data, poisoned), "");
  const CaseData wide = with_double_outputs(kAccumulate, data);
  const auto& state = static_cast<const Accumulate::Args*>(wide.args.get())->state;
  EXPECT_EQ(state.dtype(), kF64);
  for (std::int64_t i = 0; i < state.size(0); ++i) {
    EXPECT_EQ(load_as_double(state, i),
              load_as_double(static_cast<const Accumulate::Args*>(data.args.get())->state, i));
  }
}

}  // namespace
}  // namespace einkorn::measure
