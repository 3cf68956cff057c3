#include "src/jit/ptx_entries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/jit/diagnostics.h"

namespace einkorn::jit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kPtx =
    ".version 9.0\n"
    ".visible .entry _Z1kPi\n"
    "(\n"
    "\t.param .u64 _Z1kPi_param_0\n"
    ")\n"
    ";\n"
    ".global .align 8 .u64 __einkorn_entry_0 = plain;\n"
    ".global .align 8 .u64 __einkorn_entry_1 = _Z1kPi;\n"
    ".visible .entry plain()\n"
    "{\n"
    "}\n"
    ".func _Z6deviceiv(\n";

TEST(PtxEntries, NamesInOrderAndNoTrace) {
  const std::vector<std::string> entries = {"plain", "k"};
  const PtxEntries found = take_entry_table(kPtx, entries);
  EXPECT_EQ(found.error, std::nullopt);
  EXPECT_THAT(found.lowered, ElementsAre("plain", "_Z1kPi"));
  EXPECT_THAT(found.ptx, Not(HasSubstr("einkorn")));
  EXPECT_THAT(found.ptx, HasSubstr(".version 9.0\n.visible .entry _Z1kPi\n("));
  EXPECT_THAT(found.ptx, HasSubstr(";\n.visible .entry plain()\n{"));
}

TEST(PtxEntries, VariablesThatDebuggingInformationNamesStay) {
  const std::vector<std::string> entries = {"plain", "k"};
  const std::string ptx = std::string(kPtx) + ".b64 __einkorn_entry_1\n";
  const PtxEntries found = take_entry_table(ptx, entries);
  EXPECT_EQ(found.error, std::nullopt);
  EXPECT_THAT(found.lowered, ElementsAre("plain", "_Z1kPi"));
  EXPECT_EQ(found.ptx, ptx);
}

TEST(PtxEntries, WhatIsNoKernelIsAnError) {
  const std::vector<std::string> entries = {"plain", "device"};
  const auto error_for = [&](const std::string& target) {
    std::string ptx(kPtx);
    ptx.replace(ptx.find("= _Z1kPi;"), 9, "= " + target + ";");
    return take_entry_table(ptx, entries).error.value_or("");
  };
  EXPECT_EQ(error_for("_Z1kPi"), "");
  const std::string text = error_for("_Z6deviceiv");
  const FirstError error = first_error(text).value_or(FirstError{});
  EXPECT_EQ(error.file, kEntryFile);
  EXPECT_EQ(error.message, "\"device\" is no __global__ function");
  EXPECT_NE(error_for("generic(plain)"), "");
  EXPECT_NE(error_for("plain+8"), "");
  EXPECT_NE(error_for("0"), "");
  EXPECT_NE(error_for(""), "");
  // A compiler that left a variable out.
  const std::vector<std::string> three = {"plain", "k", "gone"};
  EXPECT_THAT(take_entry_table(kPtx, three).error.value_or(""), HasSubstr("\"gone\""));
}

TEST(PtxEntries, WhateverThePtx) {
  const std::vector<std::string> one = {"k"};
  for (std::string_view ptx :
       {"", "\n", ".entry", ".entry ", ".global __einkorn_entry_", ".global __einkorn_entry_0 = ",
        ".global __einkorn_entry_99999999999", ".global __einkorn_entry_7 = k;"}) {
    EXPECT_TRUE(take_entry_table(ptx, one).error.has_value()) << ptx;
  }
  EXPECT_EQ(take_entry_table("no newline at the end", {}).ptx, "no newline at the end");
}

TEST(PtxEntries, TheTableIsOnLinesOfItsOwn) {
  const std::vector<std::string> entries = {"k<int>  // comment", "a\n,b"};
  EXPECT_EQ(entry_table(entries),
            "\n\n#line 1 \"__nv_name_map\"\n"
            "extern \"C\" __device__ auto __einkorn_entry_0 = (k<int>  // comment\n);\n"
            "extern \"C\" __device__ auto __einkorn_entry_1 = (a ,b\n);\n");
}

TEST(PtxEntries, PlaceIsTakenOut) {
  EXPECT_EQ(without_place("\t.file\t1 \"/tmp/e-1/src/k.cu\"\n", "/tmp/e-1/src"),
            "\t.file\t1 \"/einkorn/k.cu\"\n");
  EXPECT_EQ(without_place(".entry _ZN36_GLOBAL__N__dfac5d0c_4_k_cu_fcfa267f4anonEPf(", "/x"),
            ".entry _ZN36_GLOBAL__N__00000000_4_k_cu_fcfa267f4anonEPf(");
  EXPECT_EQ(without_place("_INTERNAL_dfac5d0c_4_k_cu_1", "/x"), "_INTERNAL_00000000_4_k_cu_1");
  for (const char* other : {"_GLOBAL__N__dfac5d0", "_GLOBAL__N__dfac5d0cc", "_GLOBAL__N__dfacXd0c_",
                            "_GLOBAL__N_", "_INTERNAL_"}) {
    EXPECT_EQ(without_place(other, "/x"), other);
  }
}

}  // namespace
}  // namespace einkorn::jit
