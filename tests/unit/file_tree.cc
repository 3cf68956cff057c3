#include "tests/unit/file_tree.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <system_error>

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

FileTree::FileTree(const std::string& name) {
  std::string path = testing::TempDir() + name + "-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("mkdtemp: " + path);
  root_ = std::filesystem::canonical(path);
}

FileTree::~FileTree() {
  std::error_code ignored;  // leaving files behind in the temporary folder fails no test
  // Tests may have taken permissions away.
  for (const auto& at : std::filesystem::recursive_directory_iterator(root_, ignored)) {
    if (at.is_directory(ignored)) {
      std::filesystem::permissions(at.path(), std::filesystem::perms::owner_all, ignored);
    }
  }
  std::filesystem::remove_all(root_, ignored);
}

std::string FileTree::write(const std::string& name, std::string_view text) const {
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

}  // namespace einkorn::test
