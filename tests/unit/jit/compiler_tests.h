#pragma once

// What the tests of the compilers have in common.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/jit/compiler.h"

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
  FileTree();
  ~FileTree();
  FileTree(const FileTree&) = delete;
  FileTree& operator=(const FileTree&) = delete;

  /// Full path of the file, which gets this text; folders above it are made.
  std::string write(const std::string& name, const std::string& text) const;
  /// The same, executable.
  std::string write_script(const std::string& name, const std::string& text) const;
  std::string path(const std::string& name) const { return (root_ / name).string(); }
  const std::filesystem::path& root() const { return root_; }
  /// Names of what lies right below it, sorted.
  std::vector<std::string> entries() const;

 private:
  std::filesystem::path root_;  // a real path
};

/// Text of a failure; empty when there is none.
std::string failure_text(const jit::Outcome& outcome);

/// Text of the Error that `call` throws, "no error" when it throws none.
template <class Call>
std::string thrown_text(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace einkorn::test
