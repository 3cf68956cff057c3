#include "src/core/checkout.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "tests/unit/file_tree.h"

namespace einkorn {
namespace {

TEST(Checkout, FindsItsFilesAndNoOthers) {
  const auto list = find_in_checkout("ops/variants.inc");
  ASSERT_TRUE(list.has_value());
  EXPECT_TRUE(std::filesystem::is_regular_file(*list));
  EXPECT_FALSE(find_in_checkout("ops/no_such_list.inc").has_value());
}

TEST(Checkout, TheNamedPythonComesFirst) {
  const test::Variable named("EINKORN_PYTHON", "a_python");
  EXPECT_EQ(python_command(), "a_python");
  const test::Variable unnamed("EINKORN_PYTHON", "");
  EXPECT_TRUE(python_command().ends_with("python3"));
}

}  // namespace
}  // namespace einkorn
