// Faults collected into one error.

#include "src/registry/faults.h"

#include <gtest/gtest.h>

#include "tests/unit/golden.h"

namespace einkorn::detail {
namespace {

TEST(Faults, NoneThrowNothing) {
  const Faults faults;
  EXPECT_TRUE(faults.empty());
  faults.throw_if_any("who");
}

TEST(Faults, AllAreToldAndTheWorstKindIsThrown) {
  Faults faults;
  faults.add(ErrorKind::kNotImplemented, "a", "refused");
  faults.add(ErrorKind::kRuntime, "b", "no device\nhint: buy one");
  EXPECT_EQ(test::error_text([&] { faults.throw_if_any("who"); }),
            "RuntimeError: who: expected no fault, got 2\n"
            "  a:\n"
            "    refused\n"
            "  b:\n"
            "    no device\n"
            "    hint: buy one");
  faults.add(ErrorKind::kType, "c", "type");
  faults.add(ErrorKind::kValue, "d", "value");
  EXPECT_EQ(test::error_text([&] { faults.throw_if_any("who"); }).substr(0, 11), "ValueError:");
}

TEST(Faults, TheSameFaultIsToldOnce) {
  Faults faults;
  faults.add(ErrorKind::kValue, "a", "wrong");
  faults.add(ErrorKind::kValue, "b", "other");
  faults.add(ErrorKind::kValue, "c", "wrong");
  faults.add(ErrorKind::kType, "d", "wrong");
  EXPECT_EQ(test::error_text([&] { faults.throw_if_any("who"); }),
            "ValueError: who: expected no fault, got 3\n"
            "  a, c:\n"
            "    wrong\n"
            "  b:\n"
            "    other\n"
            "  d:\n"
            "    wrong");
}

}  // namespace
}  // namespace einkorn::detail
