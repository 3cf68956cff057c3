#include "src/measure/check.h"

#include <cmath>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/measure/memory.h"
#include "tests/unit/measure/toy_op.h"

namespace einkorn::measure {
namespace {

using testing::HasSubstr;
using toy::Twice;

float& y_at(const Twice::Args& args, std::int64_t offset) {
  return args.y.data_as<float>()[offset];
}

void right(const Twice::Args& args) { Twice::reference(args); }

void wrong_value(const Twice::Args& args) {
  Twice::reference(args);
  y_at(args, args.y.stride(0) + 2) += 0.25F;
}

void unwritten(const Twice::Args& args) {
  Twice::each(args, [&](std::int64_t from, std::int64_t to) {
    if (from != 7) y_at(args, to) = 2 * args.x.data_as<const float>()[from];
  });
}

void writes_gap(const Twice::Args& args) {
  Twice::reference(args);
  y_at(args, args.y.size(1)) = 1;
}

void writes_past_end(const Twice::Args& args) {
  Twice::reference(args);
  y_at(args, args.y.size(0) * args.y.stride(0)) = 1;
}

void writes_before(const Twice::Args& args) {
  Twice::reference(args);
  y_at(args, -1) = 1;
}

void changes_input(const Twice::Args& args) {
  Twice::reference(args);
  args.x.data_as<float>()[4] = 0;
}

void differs_between_runs(const Twice::Args& args) {
  static int runs = 0;
  Twice::reference(args);
  // One step of a float: far inside the tolerance, so only the bits tell.
  if (++runs % 2 == 0) y_at(args, 1) = std::nextafter(y_at(args, 1), 100.0F);
}

void throws(const Twice::Args&) {
  throw_error(ErrorKind::kRuntime, "twice: the machine is on fire");
}
void throws_foreign(const Twice::Args&) { throw std::logic_error("no such luck"); }
void throws_number(const Twice::Args&) {
  throw 7;  // NOLINT(bugprone-std-exception-baseclass): what a foreign variant may do
}

template <void (*kRun)(const Twice::Args&)>
CheckResult run_check(std::string_view keys = "rows=3 cols=5 gap=2") {
  return check_problem(toy::entry(), toy::kVariant<kRun>, toy::problem(keys), "case", kCpuDevice,
                       1);
}

TEST(Check, PassesARightVariant) {
  const CheckResult result = run_check<right>();
  EXPECT_EQ(result.status, Status::kPass) << result.reason;
  EXPECT_EQ(result.reason, "");
  EXPECT_LE(result.error, 1);
  EXPECT_EQ(result.variant, "twice/cpu/toy_v1");
  EXPECT_EQ(result.case_name, "case");
}

TEST(Check, PassesEmptyTensors) {
  EXPECT_EQ(run_check<right>("rows=0 cols=5").status, Status::kPass);
}

TEST(Check, WrongValue) {
  const CheckResult result = run_check<wrong_value>();
  EXPECT_EQ(result.status, Status::kFail);
  EXPECT_THAT(result.reason, HasSubstr("y[1, 2]: got "));
  EXPECT_GT(result.error, 1);
}

TEST(Check, UnwrittenElement) {
  const CheckResult result = run_check<unwritten>();
  EXPECT_EQ(result.status, Status::kFail);
  EXPECT_THAT(result.reason, HasSubstr("y[1, 2]: got -nan"));
}

TEST(Check, WriteBetweenRows) {
  const CheckResult result = run_check<writes_gap>();
  EXPECT_EQ(result.status, Status::kFail);
  EXPECT_THAT(result.reason, HasSubstr("wrote between the rows of y"));
}

TEST(Check, WriteOutsideOfTheAllocation) {
  const CheckResult past = run_check<writes_past_end>("rows=3 cols=5");
  EXPECT_EQ(past.status, Status::kFail);
  EXPECT_THAT(past.reason, HasSubstr("after the end of the memory of y"));
  const CheckResult before = run_check<writes_before>();
  EXPECT_EQ(before.status, Status::kFail);
  EXPECT_THAT(before.reason, HasSubstr("before the memory of y"));
}

TEST(Check, ChangedInput) {
  const CheckResult result = run_check<changes_input>();
  EXPECT_EQ(result.status, Status::kFail);
  EXPECT_THAT(result.reason, HasSubstr("input x was changed"));
}

TEST(Check, DifferentBitsOnTheSecondRun) {
  const CheckResult result = run_check<differs_between_runs>();
  EXPECT_EQ(result.status, Status::kFail);
  EXPECT_THAT(result.reason, HasSubstr("two runs on the same inputs gave different bits"));
  EXPECT_THAT(result.reason, HasSubstr("y[0, 1]"));
}

TEST(Check, ThrowingVariantsFail) {
  const CheckResult ours = run_check<throws>();
  EXPECT_EQ(ours.status, Status::kFail);
  EXPECT_EQ(ours.reason, "RuntimeError: twice: the machine is on fire");
  const CheckResult foreign = run_check<throws_foreign>();
  EXPECT_EQ(foreign.status, Status::kFail);
  EXPECT_THAT(foreign.reason, HasSubstr("no such luck"));
  EXPECT_EQ(run_check<throws_number>().status, Status::kFail);
}

TEST(Check, RefusedIsNotFailed) {
  const CheckResult result = run_check<right>("rows=501 cols=1");
  EXPECT_EQ(result.status, Status::kRefused);
  EXPECT_EQ(result.reason, "rows 501 > 500");
}

TEST(Check, AbsentDeviceIsSkipped) {
  const CheckResult result = check_problem(toy::entry(), toy::kVariant<right>, toy::problem(""),
                                           "case", cuda_device(1000), 1);
  EXPECT_EQ(result.status, Status::kSkipped);
  EXPECT_THAT(result.reason, HasSubstr("not run: "));
}

TEST(Check, RunsInPlace) {
  Rng rng(1);
  const AnyProblem problem = toy::problem("rows=3 cols=5");
  const CaseData data = toy::kTwice.make_inputs(problem.get(), rng);
  auto& args = *static_cast<Twice::Args*>(data.args.get());
  args.y = args.x;
  const Prepared prepared = prepare(toy::entry(), data, "in place");
  const CheckResult good = check_prepared(toy::entry(), toy::kVariant<right>, prepared, kCpuDevice);
  EXPECT_EQ(good.status, Status::kPass) << good.reason;
  const CheckResult bad =
      check_prepared(toy::entry(), toy::kVariant<unwritten>, prepared, kCpuDevice);
  EXPECT_EQ(bad.status, Status::kFail);
}

TEST(Check, GoesThroughCasesUpToTheLevel) {
  const OpEntry entry = toy::entry({&toy::kVariant<right>, &toy::kVariant<wrong_value>});
  CheckOptions options;
  options.level = 0;
  int seen = 0;
  options.progress = [&](const CheckResult&) { ++seen; };
  const auto level0 = check(entry, options);
  ASSERT_EQ(level0.size(), 2U);
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(level0[0].status, Status::kPass) << level0[0].reason;
  EXPECT_EQ(level0[1].status, Status::kFail);
  EXPECT_EQ(level0[0].case_name, "small");
  options.level = 2;
  const auto level2 = check(entry, options);
  ASSERT_EQ(level2.size(), 4U);
  EXPECT_EQ(level2[2].case_name, "large");
  EXPECT_EQ(level2[2].level, 2);
}

TEST(Clone, KeepsLayoutAndAliases) {
  Rng rng(1);
  const CaseData data = toy::kTwice.make_inputs(toy::problem("rows=3 cols=5 gap=2").get(), rng);
  auto& args = *static_cast<Twice::Args*>(data.args.get());
  args.x = data.storage[1].view().slice(0, 1, 3).slice(1, 2, 7);
  args.y = args.x;
  const CaseData copy = clone_to(toy::kTwice, data, kCpuDevice);
  const auto& moved = *static_cast<const Twice::Args*>(copy.args.get());
  EXPECT_NE(moved.x.data(), args.x.data());
  EXPECT_EQ(moved.x.data(), moved.y.data());
  EXPECT_EQ(moved.x.data_as<float>() - copy.storage[1].view().data_as<float>(), 7 + 2);
  EXPECT_EQ(moved.x.stride(0), 7);
  EXPECT_EQ(moved.x.size(0), 2);
  EXPECT_EQ(find_difference(toy::kTwice, data, copy), "");
}

TEST(Clone, GuardsKeepAlignment) {
  Rng rng(1);
  const CaseData data = toy::kTwice.make_inputs(toy::problem("rows=2 cols=3").get(), rng);
  const CaseData guarded = with_guards(toy::kTwice, data);
  const auto& args = *static_cast<const Twice::Args*>(guarded.args.get());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(args.x.data()) % 256, 0U);
  EXPECT_EQ(guarded.storage[0].view().nbytes(), 2 * 3 * 4 + 2 * kGuardBytes);
}

TEST(Clone, ForeignMemoryIsOurFault) {
  Rng rng(1);
  const CaseData data = toy::kTwice.make_inputs(toy::problem("").get(), rng);
  float elsewhere[15] = {};
  static_cast<Twice::Args*>(data.args.get())->x = TensorView(elsewhere, kF32, {3, 5}, kCpuDevice);
  EXPECT_THROW(clone_to(toy::kTwice, data, kCpuDevice), Error);
}

TEST(Clone, DoubleOutputs) {
  Rng rng(1);
  const CaseData data = toy::kTwice.make_inputs(toy::problem("rows=3 cols=5 gap=2").get(), rng);
  const CaseData wide = with_double_outputs(toy::kTwice, data);
  const auto& before = *static_cast<const Twice::Args*>(data.args.get());
  const auto& after = *static_cast<const Twice::Args*>(wide.args.get());
  EXPECT_EQ(after.x.data(), before.x.data());
  EXPECT_EQ(after.y.dtype(), kF64);
  EXPECT_TRUE(after.y.is_contiguous());
  EXPECT_EQ(before.y.dtype(), kF32);
}

}  // namespace
}  // namespace einkorn::measure
