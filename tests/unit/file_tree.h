#pragma once

// What tests do to the world around them, undone when they end.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace einkorn::test {

/// Sets an environment variable for a scope, or takes it away.
class Variable {
 public:
  Variable(std::string name, const std::optional<std::string>& value);
  ~Variable();
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> old_;
};

/// A folder with files, made for one test and removed with it.
class FileTree {
 public:
  /// `name` begins the folder's name.
  explicit FileTree(const std::string& name = "einkorn-test");
  ~FileTree();
  FileTree(const FileTree&) = delete;
  FileTree& operator=(const FileTree&) = delete;

  /// Full path of the file, which gets this text; folders above it are made.
  std::string write(const std::string& name, std::string_view text = {}) const;
  /// The same, executable.
  std::string write_script(const std::string& name, const std::string& text) const;
  std::string path(const std::string& name) const { return (root_ / name).string(); }
  const std::filesystem::path& root() const { return root_; }
  /// Names of what lies right below it, sorted.
  std::vector<std::string> entries() const;

 private:
  std::filesystem::path root_;  // a real path
};

}  // namespace einkorn::test
