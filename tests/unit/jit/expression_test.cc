#include <einkorn/expression.h>

#include <einkorn/error.h>
#include <einkorn/jit.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/golden.h"

namespace einkorn::jit {
namespace {

TEST(Instantiate, FromValues) {
  EXPECT_EQ(instantiate("ns::k", {}), "ns::k");
  EXPECT_EQ(instantiate("k", {4, true, kBF16, std::optional<DType>()}),
            "k<4, true, einkorn::bf16, einkorn::none>");
  EXPECT_EQ(instantiate("k", {-1, 1LL << 40, "Traits<float, 3>", std::string("int")}),
            "k<-1, 1099511627776, Traits<float, 3>, int>");
}

TEST(Instantiate, TextsAreChecked) {
  for (const auto& [text, flaw] :
       {std::pair("", "it is empty"), std::pair("  ", "it is empty"),
        std::pair("a<b", "its brackets do not pair"), std::pair("a>", "its brackets do not pair"),
        std::pair("a<(b>)", "its brackets do not pair"),
        std::pair("int, int", "it is more than one"),
        std::pair("int; evil()", "it holds what no template argument"),
        std::pair("a\nb", "it holds what no template argument")}) {
    EXPECT_THAT(test::error_text([&text = text] { TemplateArgument{text}; }),
                testing::HasSubstr(flaw))
        << text;
  }
}

TEST(Instantiate, NamesAreChecked) {
  EXPECT_EQ(instantiate("::ns::k_2", {4}), "::ns::k_2<4>");
  EXPECT_EQ(instantiate("Outer<int, 3>::k", {4}), "Outer<int, 3>::k<4>");
  EXPECT_EQ(instantiate("k<4>", {}), "k<4>");
  for (const auto& [text, flaw] :
       {std::pair("", "it is empty"), std::pair("3", "it begins as no name does"),
        std::pair("::", "it begins as no name does"), std::pair("k<", "its brackets do not pair"),
        std::pair("a, b", "it is more than one"), std::pair("a b", "it holds what no name does"),
        std::pair("a::3", "it holds what no name does"), std::pair("a:b", "what no name does"),
        std::pair("k(int)", "it holds what no name does"),
        std::pair("k<float>", "without arguments, got \"k<float>\"")}) {
    EXPECT_THAT(test::error_text([&text = text] { instantiate(text, {4}); }),
                testing::HasSubstr(flaw))
        << text;
  }
}

// The names are those of device code: a kernel of each compiles.
TEST(TypeName, DeviceCodeHasTheTypes) {
  std::vector<std::string> entries;
  for (const DType dtype : all_dtypes()) {
    if (bits(dtype) < 8 || dtype == kE8M0) {
      EXPECT_THROW(type_name(dtype), Error) << name(dtype);
    } else {
      entries.push_back(instantiate("k", {dtype, bits(dtype) / 8}));
    }
  }
  const Program program = compile({.source = R"(
#include "src/cuda/device/common/fp8.cuh"
template <class T, int kBytes> __global__ void k(T*) { static_assert(sizeof(T) == kBytes); }
)",
                                   .instantiate = entries,
                                   .arch = "sm_90a"});
  EXPECT_EQ(program->entries.size(), entries.size());
}

}  // namespace
}  // namespace einkorn::jit
