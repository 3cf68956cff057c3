#include "src/jit/entry_names.h"

#include <einkorn/jit.h>
#include <gtest/gtest.h>

#include "src/jit/inputs.h"

namespace einkorn::jit {
namespace {

TEST(EntryNames, BlanksDoNotCount) {
  for (const char* written : {"a::k<float, 4>", "a::k<float,4>", " a :: k < float ,\t4 > \n"}) {
    EXPECT_EQ(normal_entry(written), "a::k<float, 4>") << written;
  }
  EXPECT_EQ(normal_entry("k<T<int> , U<unsigned  int> >"), "k<T<int>, U<unsigned int>>");
  EXPECT_EQ(normal_entry("k<float *, const  int &>"), "k<float*, const int&>");
  EXPECT_EQ(normal_entry(""), "");
}

TEST(EntryNames, BlanksThatMeanSomethingStay) {
  EXPECT_EQ(normal_entry("k<1 - -1, 2 + +x, a & &b>"), "k<1- -1, 2+ +x, a& &b>");
  EXPECT_EQ(normal_entry("k<' ', 1>"), "k<' ', 1>");
}

TEST(EntryNames, AKeyIsTheSame) {
  const auto key = [](const char* entry) {
    return resolve_inputs({.file = "k.cu", .source = "//", .instantiate = entry, .arch = "sm_90a"})
        .content;
  };
  EXPECT_EQ(key("k<float,4>"), key("k<float, 4>"));
  EXPECT_NE(key("k<float, 4>"), key("k<float, 5>"));
}

}  // namespace
}  // namespace einkorn::jit
