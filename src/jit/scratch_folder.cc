#include "src/jit/scratch_folder.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/environment.h"
#include "src/core/file.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;

}  // namespace

ScratchFolder::ScratchFolder() {
  const std::string root = temporary_root();
  std::string path = root + "/einkorn-XXXXXX";
  EK_CHECK(mkdtemp(path.data()) != nullptr, ErrorKind::kRuntime,
           fmt::format("jit: cannot make a folder for the compiler in {}: {}\n"
                       "  hint: TMPDIR names another place",
                       root, std::strerror(errno)));
  std::error_code error;
  path_ = fs::canonical(path, error).string();
  if (error) path_ = path;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // what stays is a file in a temporary folder
  fs::remove_all(path_, ignored);
}

void ScratchFolder::write(std::string_view name, std::string_view text) const {
  const fs::path file = fs::path(path_) / name;
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  std::ofstream stream(file, std::ios::binary);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  EK_CHECK(stream.good(), ErrorKind::kRuntime,
           fmt::format("jit: cannot write {} for the compiler: {}", file.string(),
                       std::strerror(errno)));
}

std::string ScratchFolder::read(std::string_view name) const {
  FileContent content = read_file((fs::path(path_) / name).string());
  EK_CHECK(!content.error, ErrorKind::kRuntime,
           fmt::format("jit: expected a file {} of the compiler, got: {}", name,
                       content.error.message()));
  return std::move(content.text);
}

std::vector<std::byte> ScratchFolder::read_bytes(std::string_view name) const {
  const std::string text = read(name);
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

}  // namespace einkorn::jit
