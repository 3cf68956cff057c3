#include "src/jit/ffi_values.h"

#include <string>

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/jit/compiler_tests.h"

namespace einkorn::jit {
namespace {

using test::thrown_text;
using testing::HasSubstr;

/// Needs tvm-ffi's own library, which comes with a wheel.
class FfiValues : public testing::Test {
 protected:
  void SetUp() override {
    try {
      tvm_ffi();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

FfiAny made_text(std::string_view text) {
  const FfiBytes bytes{text.data(), text.size()};
  FfiAny out;
  EXPECT_EQ(tvm_ffi().make_text(&bytes, &out), 0);
  return out;
}

TEST_F(FfiValues, TextsOfAllForms) {
  EXPECT_EQ(text_of(text_value("lent")), "lent");
  for (const std::string text : {"", "short", "longer than what fits in place"}) {
    const FfiAny value = made_text(text);
    EXPECT_EQ(text_of(value), text) << value.type;
    release(value);
  }
  EXPECT_EQ(text_of(integer_value(7)), std::nullopt);
  EXPECT_EQ(text_of({}), std::nullopt);
}

ErrorKind kind_after(const char* raised) {
  tvm_ffi().raise(raised, "told");
  try {
    throw_raised("who", -1);
  } catch (const Error& error) {
    return error.kind();
  }
}

TEST_F(FfiValues, RaisedErrorsKeepTheirKind) {
  for (const ErrorKind kind :
       {ErrorKind::kType, ErrorKind::kValue, ErrorKind::kNotImplemented, ErrorKind::kRuntime}) {
    EXPECT_EQ(kind_after(std::string(name(kind)).c_str()), kind);
  }
  EXPECT_EQ(kind_after("KeyError"), ErrorKind::kRuntime);
  tvm_ffi().raise("ValueError", "told");
  EXPECT_EQ(thrown_text([] { throw_raised("who", -1); }), "who: told");
  tvm_ffi().raise("KeyError", "told");
  EXPECT_EQ(thrown_text([] { throw_raised("who", -1); }), "who: KeyError: told");
  EXPECT_THAT(thrown_text([] { throw_raised("who", 3); }),
              HasSubstr("who: failed with status 3 and raised no error"));
}

TEST_F(FfiValues, AStreamIsCurrentForAScope) {
  const Device device = cuda_device(0);
  void* const before = current_stream(device).handle;
  int outer = 0;
  int inner = 0;
  {
    const StreamScope one(Stream::cuda(0, &outer));
    EXPECT_EQ(current_stream(device).handle, &outer);
    {
      const StreamScope two(Stream::cuda(0, &inner));
      EXPECT_EQ(current_stream(device).handle, &inner);
    }
    const StreamScope none(std::nullopt);
    const StreamScope cpu(Stream::cpu());
    EXPECT_EQ(current_stream(device).handle, &outer);
  }
  EXPECT_EQ(current_stream(device).handle, before);
  EXPECT_EQ(current_stream(kCpuDevice).handle, nullptr);
}

}  // namespace
}  // namespace einkorn::jit
