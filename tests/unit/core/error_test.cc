#include <einkorn/error.h>

#include <gtest/gtest.h>

#include <string>

namespace einkorn {
namespace {

TEST(Error, KindsAreNamedAsInPython) {
  EXPECT_EQ(name(ErrorKind::kType), "TypeError");
  EXPECT_EQ(name(ErrorKind::kValue), "ValueError");
  EXPECT_EQ(name(ErrorKind::kNotImplemented), "NotImplementedError");
  EXPECT_EQ(name(ErrorKind::kRuntime), "RuntimeError");
}

TEST(Error, CarriesKindMessageAndPlace) {
  const auto line = std::source_location::current().line() + 2;
  try {
    throw_error(ErrorKind::kValue, "op: x dim 0: expected 1, got 2");
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kValue);
    EXPECT_STREQ(error.what(), "op: x dim 0: expected 1, got 2");
    EXPECT_EQ(error.where().line(), line);
    EXPECT_TRUE(std::string(error.where().file_name()).ends_with("error_test.cc"));
  }
}

TEST(Error, CheckEvaluatesItsMessageOnFailureOnly) {
  int formatted = 0;
  const auto message = [&] {
    ++formatted;
    return std::string("bad");
  };
  EK_CHECK(formatted == 0, ErrorKind::kValue, message());
  EXPECT_EQ(formatted, 0);
  EXPECT_THROW(EK_CHECK(formatted != 0, ErrorKind::kValue, message()), Error);
  EXPECT_EQ(formatted, 1);
}

TEST(Error, InternalFaultsNameConditionAndPlaceAndAskForAReport) {
  try {
    EK_ICHECK(1 + 1 == 3, "sums are off");
    FAIL() << "did not throw";
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
    EXPECT_TRUE(
        what.starts_with("internal error: sums are off: expected 1 + 1 == 3 at "
                         "tests/unit/core/error_test.cc:"))
        << what;
    EXPECT_NE(what.find("please report it"), std::string::npos) << what;
  }
}

TEST(Error, IsAStandardException) {
  EXPECT_THROW(throw_error(ErrorKind::kType, "x"), std::exception);
}

}  // namespace
}  // namespace einkorn
