#include "tests/unit/golden.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <einkorn/error.h>
#include <gtest/gtest.h>

#include "tests/unit/source_dir.h"

namespace einkorn::test {
namespace {

std::optional<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool updating() {
  const char* value = std::getenv("UPDATE_GOLDEN");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

void expect_golden(std::string_view path, std::string_view actual) {
  const auto file = std::filesystem::path(source_dir()) / "tests" / "golden" / path;
  if (updating()) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary);
    out << actual;
    out.close();
    EXPECT_TRUE(out.good()) << "cannot write " << file;
    return;
  }
  const auto expected = read_file(file);
  if (!expected) {
    ADD_FAILURE() << "missing golden file " << file << "; UPDATE_GOLDEN=1 writes it";
    return;
  }
  EXPECT_EQ(*expected, actual) << "differs from " << file << "; UPDATE_GOLDEN=1 rewrites it";
}

std::string error_text(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(name(error.kind())) + ": " + error.what();
  }
  ADD_FAILURE() << "expected an einkorn::Error, got none";
  return "no error";
}

GoldenErrors::~GoldenErrors() {
  if (std::uncaught_exceptions() == exceptions_at_start_) expect_golden(path_, text_);
}

void GoldenErrors::add(std::string_view title, const std::function<void()>& call) {
  SCOPED_TRACE(std::string(title));
  if (!text_.empty()) text_ += "\n";
  text_ += "## " + std::string(title) + "\n" + error_text(call) + "\n";
}

}  // namespace einkorn::test
