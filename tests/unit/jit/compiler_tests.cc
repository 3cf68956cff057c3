#include "tests/unit/jit/compiler_tests.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

namespace einkorn::test {
namespace {

void assign(const std::string& name, const std::optional<std::string>& value) {
  if (value) {
    ::setenv(name.c_str(), value->c_str(), 1);
  } else {
    ::unsetenv(name.c_str());
  }
}

}  // namespace

Variable::Variable(std::string name, const std::optional<std::string>& value)
    : name_(std::move(name)) {
  if (const char* old = std::getenv(name_.c_str())) old_ = old;
  assign(name_, value);
}

Variable::~Variable() { assign(name_, old_); }

FileTree::FileTree() {
  std::string path = testing::TempDir() + "einkorn-test-files-XXXXXX";
  EXPECT_NE(mkdtemp(path.data()), nullptr);
  root_ = std::filesystem::canonical(path);
}

FileTree::~FileTree() { std::filesystem::remove_all(root_); }

std::string FileTree::write(const std::string& name, const std::string& text) const {
  const std::filesystem::path file = root_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
  return file.string();
}

std::string FileTree::write_script(const std::string& name, const std::string& text) const {
  std::string file = write(name, "#!/bin/sh\n" + text);
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  return file;
}

std::vector<std::string> FileTree::entries() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(root_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string failure_text(const jit::Outcome& outcome) {
  return outcome.failure ? outcome.failure->what() : "";
}

}  // namespace einkorn::test
