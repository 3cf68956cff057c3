#pragma once

// A source tree with one op and two variants, for tests that rewrite it.

#include "tests/unit/file_tree.h"

namespace einkorn::versions {

inline void write_toy_tree(const test::FileTree& folder) {
  folder.write("include/einkorn/op.h", "#pragma once\n");
  folder.write("ops/arches.inc",
               "// comment\nEK_ARCH(cpu, kCpu, 0, 0, \"any\")\n"
               "EK_ARCH(sm90, kCuda, 90, 90, \"Hopper, and (only) that\")\n");
  folder.write("ops/variants.inc", "// every op\n#include \"ops/math/toy/variants.inc\"\n");
  folder.write("ops/math/toy/contract.h",
               "struct Helper {};\nstruct ToyOp {\n  static constexpr auto kName = \"toy\";\n};\n");
  folder.write("ops/math/toy/variants.inc",
               "// toy: EK_VARIANT(toy, cpu, ghost, 7) is a comment\nEK_OP(toy)\n"
               "EK_VARIANT(toy, sm90, ring, 1)\nEK_VARIANT(toy, cpu, rows, 2)\n"
               "EK_VARIANT(toy, cpu, rows, 1)\n");
  folder.write("ops/math/toy/cpu/rows_v1.cc",
               "// toy/cpu/rows_v1: slow.\n\nextern const Variant rows_v1;\nconstexpr Variant "
               "rows_v1 = make_variant<ToyOp, RowsV1>(\"cpu\", \"rows\", 1, \"cpp\", \"x\");\n");
  folder.write("ops/math/toy/cpu/rows_v2.cc",
               "// toy/cpu/rows_v2: less slow.\n//\n// Changed since v1: unrolled.\n\nconstexpr "
               "Variant rows_v2 = make_variant<ToyOp, RowsV2>(\"cpu\", \"rows\", 2, \"cpp\", "
               "\"x\");\n");
  folder.write("ops/math/toy/cpu/rows_v2.h", "#pragma once\nstruct RowsV2Task {};\n");
  folder.write("ops/math/toy/cpu/rows_v21.cc", "// another stem\n");
  folder.write("ops/math/toy/sm90/ring_v1.cc", "// not registered\n");
}

}  // namespace einkorn::versions
