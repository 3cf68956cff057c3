#include "src/versions/rename.h"

#include <gmock/gmock.h>

namespace einkorn::versions {
namespace {

using testing::HasSubstr;

Rename rows() { return {"rms_norm", "cpu", "rows", 1, 2, {"smxx", "sm90"}, {"silu_mul"}}; }

TEST(Rename, Stems) {
  EXPECT_EQ(stem("split_kv", 3), "split_kv_v3");
  EXPECT_EQ(type_name("split_kv_v3"), "SplitKvV3");
}

TEST(Rename, IdentifiersAtWordBoundaries) {
  const Rename rename = rows();
  for (const auto& [from, to] : {std::pair{"rows_v1", "rows_v2"},
                                 {"RowsV1", "RowsV2"},
                                 {"rows_v1_kernel", "rows_v2_kernel"},
                                 {"launch_rows_v1", "launch_rows_v2"},
                                 {"kRowsV1Tile", "kRowsV2Tile"},
                                 {"EINKORN_RMS_NORM_CPU_ROWS_V1_", "EINKORN_RMS_NORM_CPU_ROWS_V2_"},
                                 // Not the stem, but something that contains its letters.
                                 {"rows_v10", "rows_v10"},
                                 {"narrows_v1", "narrows_v1"},
                                 {"RowsV12", "RowsV12"},
                                 {"RowsV1a", "RowsV1a"},
                                 {"NarROWS_V1", "NarROWS_V1"},
                                 {"rows_v", "rows_v"},
                                 {"bulk_v1", "bulk_v1"}}) {
    EXPECT_EQ(rename_identifier(from, rename), to) << from;
  }
}

TEST(Rename, SourceByTokens) {
  const std::string source = R"(// rms_norm/cpu/rows_v1: see rows_v1.cu, not smxx/rows_v1, nor
// silu_mul/cpu/rows_v1, nor bulk_v1.
#define HWY_TARGET_INCLUDE "ops/norm/rms_norm/cpu/rows_v1.cc"
#include "ops/norm/rms_norm/cpu/rows_v1.h"
#include <einkorn/op.h>
struct RowsV1 {};
auto s = "\nrows_v1 einkorn::rms_norm::cpu::rows_v1";
auto other = "einkorn::rms_norm::smxx::rows_v1 ops/activation/silu_mul/cpu/rows_v1.cc";
constexpr Variant rows_v1 = make_variant<RmsNorm, RowsV1>(
    "cpu", /* the design */ "rows", 1, "cpp", "v1 of 1 thing");
)";
  EXPECT_EQ(rename_source(source, "rows_v1.cc", rows()),
            R"(// rms_norm/cpu/rows_v2: see rows_v2.cu, not smxx/rows_v1, nor
// silu_mul/cpu/rows_v1, nor bulk_v1.
#define HWY_TARGET_INCLUDE "ops/norm/rms_norm/cpu/rows_v2.cc"
#include "ops/norm/rms_norm/cpu/rows_v2.h"
#include <einkorn/op.h>
struct RowsV2 {};
auto s = "\nrows_v2 einkorn::rms_norm::cpu::rows_v2";
auto other = "einkorn::rms_norm::smxx::rows_v1 ops/activation/silu_mul/cpu/rows_v1.cc";
constexpr Variant rows_v2 = make_variant<RmsNorm, RowsV2>(
    "cpu", /* the design */ "rows", 2, "cpp", "v1 of 1 thing");
)");
}

TEST(Rename, OnlyItsOwnRegistrationCounts) {
  const std::string source = R"(make_variant<A, std::pair<B, C>>("cpu", "rows", 1, "cpp", "x");
make_variant<A, B>("cpu", "bulk", 1, "cpp", "x");
// make_variant<A, B>("cpu", "rows", 1, "cpp", "x");
)";
  EXPECT_EQ(count_registrations(source, "f.cc", rows(), 1), 1);
  const std::string renamed = rename_source(source, "f.cc", rows());
  EXPECT_EQ(count_registrations(renamed, "f.cc", rows(), 2), 1);
  EXPECT_THAT(renamed, HasSubstr("\"bulk\", 1,"));
}

TEST(RestartHead, ForgetsTheNumbersOfTheVersionBefore) {
  const std::string source =
      "// a/b/rows_v2: idea.\n//\n// More\n// of it.\n//\n// Changed since v1: two\n// lines.\n//\n"
      "// Best: 3 us; H100\n// (docs/devlog/x.md).\n\n#include \"a.h\"\n";
  EXPECT_EQ(restart_head(source, 2),
            "// a/b/rows_v2: idea.\n//\n// More\n// of it.\n//\n// Changed since v2: nothing yet.\n"
            "\n#include \"a.h\"\n");
  EXPECT_EQ(changes_told(source), "two lines.");
  EXPECT_EQ(changes_told(restart_head(source, 2)), "nothing yet.");
}

TEST(RestartHead, OfAFileWithoutOne) {
  EXPECT_EQ(restart_head("int x;\n", 1), "// Changed since v1: nothing yet.\n\nint x;\n");
  EXPECT_EQ(changes_told("int x;\n"), "");
}

}  // namespace
}  // namespace einkorn::versions
