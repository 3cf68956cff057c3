#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace einkorn::jit {

/// A folder for one test, removed with it.
class Scratch {
 public:
  Scratch() {
    std::string folder = testing::TempDir() + "einkorn-jit-test-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("mkdtemp: " + folder);
    path_ = std::filesystem::canonical(folder);
  }
  ~Scratch() {
    std::error_code ignored;
    // Tests may have taken permissions away.
    for (const auto& at : std::filesystem::recursive_directory_iterator(path_, ignored)) {
      if (at.is_directory(ignored)) {
        std::filesystem::permissions(at.path(), std::filesystem::perms::owner_all, ignored);
      }
    }
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }

  std::string write(std::string_view name, std::string_view text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace einkorn::jit
