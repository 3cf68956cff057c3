#include <einkorn/signature.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <einkorn/registry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace einkorn::test {

enum class Tone : std::uint8_t { kLow, kHigh };

}  // namespace einkorn::test

template <>
struct einkorn::EnumNames<einkorn::test::Tone> {
  static constexpr std::array<std::string_view, 2> kNames{"low", "high"};
};

namespace einkorn::test {
namespace {

using testing::ElementsAre;

struct Args {
  TensorView x;
  TensorView mask;
  TensorView state;
  TensorView y;
  TensorView sums;
  TensorView found;
  double eps = 0.5;
  float gain = 2;
  int offset = -1;
  std::int64_t seed = std::int64_t{1} << 40;
  bool exact = true;
  Tone tone = Tone::kHigh;

  static constexpr auto arguments() {
    return std::tuple{
        input("x", &Args::x, "[n]"),
        optional_input("mask", &Args::mask, "[n]"),
        inout("state", &Args::state, "[m]"),
        output("y", &Args::y, Like{"x"}, "like x"),
        optional_output("sums", &Args::sums,
                        Like{.tensor = "x", .shape = "x.shape[:-1]", .dtype = "f32"}, "[...]"),
        given_output("found", &Args::found, "[count]"),
        scalar("eps", &Args::eps, "small"),
        scalar("gain", &Args::gain, "a factor"),
        scalar("offset", &Args::offset, "added"),
        scalar("seed", &Args::seed, "of the noise"),
        scalar("exact", &Args::exact, "or fast"),
        scalar("tone", &Args::tone, "of voice")};
  }
};

const ArgumentInfo& named(const std::vector<ArgumentInfo>& all, std::string_view name) {
  for (const ArgumentInfo& one : all) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << "no argument " << name;
  return all.front();
}

TEST(Signature, TensorsComeInOrderWithTheirRoles) {
  Args args;
  std::vector<std::string> seen;
  for_each_tensor(args, [&](std::string_view name, Role role, TensorView& view) {
    seen.push_back(std::string(name) + (is_read(role) ? " in" : "") +
                   (is_written(role) ? " out" : ""));
    EXPECT_FALSE(view.defined());
  });
  EXPECT_THAT(seen,
              ElementsAre("x in", "mask in", "state in out", "y out", "sums out", "found out"));
}

TEST(Signature, DescribesTensors) {
  const auto all = describe_arguments<Args>();
  ASSERT_EQ(all.size(), 12U);
  EXPECT_FALSE(named(all, "x").optional);
  EXPECT_TRUE(named(all, "mask").optional);
  EXPECT_EQ(named(all, "y").role, Role::kOutput);
  EXPECT_EQ(named(all, "state").role, Role::kInOut);
  EXPECT_FALSE(named(all, "state").optional);
  EXPECT_EQ(named(all, "sums").like.shape, "x.shape[:-1]");
  EXPECT_EQ(named(all, "sums").like.dtype, "f32");
  EXPECT_EQ(named(all, "found").role, Role::kOutput);
  EXPECT_TRUE(named(all, "found").optional);
  EXPECT_TRUE(named(all, "found").like.tensor.empty());
  EXPECT_EQ(named(all, "mask").offset, offsetof(Args, mask));
}

TEST(Signature, DescribesScalars) {
  const auto all = describe_arguments<Args>();
  EXPECT_EQ(named(all, "eps").kind, ArgumentKind::kNumber);
  EXPECT_EQ(named(all, "eps").default_value, "0.5");
  EXPECT_EQ(named(all, "gain").size, sizeof(float));
  EXPECT_EQ(named(all, "offset").default_value, "-1");
  EXPECT_EQ(named(all, "seed").size, sizeof(std::int64_t));
  EXPECT_EQ(named(all, "exact").kind, ArgumentKind::kBool);
  EXPECT_EQ(named(all, "exact").default_value, "true");
  EXPECT_EQ(named(all, "tone").kind, ArgumentKind::kChoice);
  EXPECT_THAT(named(all, "tone").choices, ElementsAre("low", "high"));
  EXPECT_EQ(named(all, "tone").default_value, "high");
}

// A binding gives inputs by position, then scalars and outputs by name, in the declared order.
TEST(Signature, EveryOpDeclaresInputsThenOutputsThenScalars) {
  const auto view = registry();
  for (const OpEntry& entry : view->ops()) {
    int stage = 0;
    for (const ArgumentInfo& one : entry.op->arguments()) {
      const int own = one.kind != ArgumentKind::kTensor ? 2 : one.role == Role::kOutput ? 1 : 0;
      EXPECT_GE(own, stage) << entry.op->name << ": " << one.name;
      stage = own;
      EXPECT_FALSE(one.doc.empty()) << entry.op->name << ": " << one.name;
      if (own == 1) {
        // Only an output that a call can do without may be left to the caller to make.
        EXPECT_TRUE(one.optional || !one.like.tensor.empty()) << entry.op->name << ": " << one.name;
        EXPECT_TRUE(!one.like.tensor.empty() || (one.like.shape.empty() && one.like.dtype.empty()))
            << entry.op->name << ": " << one.name;
      }
      EXPECT_LE(one.offset + one.size, entry.op->args_size);
    }
  }
}

}  // namespace
}  // namespace einkorn::test
