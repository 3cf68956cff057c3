#include "src/core/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace einkorn {
namespace {

FileContent failure() { return {{}, std::error_code(errno, std::system_category())}; }

}  // namespace

FileContent read_file(int file) {
  struct stat info{};
  if (fstat(file, &info) != 0) return failure();
  if (S_ISDIR(info.st_mode)) return {{}, std::error_code(EISDIR, std::system_category())};
  FileContent out;
  // One more than the size: the read that meets the end needs room to show it.
  out.text.resize(static_cast<std::size_t>(info.st_size) + 1);
  std::size_t have = 0;
  while (true) {
    if (have == out.text.size()) out.text.resize(2 * have);
    const ssize_t count = read(file, out.text.data() + have, out.text.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure();
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  out.text.resize(have);
  return out;
}

FileContent read_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return failure();
  FileContent out = read_file(file);
  close(file);  // only read from
  return out;
}

std::error_code write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return {errno, std::system_category()};
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

std::error_code replace_file(const std::string& path, std::string_view text) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) return error;
  const std::string draft = path + "." + std::to_string(getpid()) + ".draft";
  const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return {errno, std::system_category()};
  error = write_all(file, std::as_bytes(std::span(text)));
  if (close(file) != 0 && !error) error = {errno, std::system_category()};
  if (!error && rename(draft.c_str(), path.c_str()) != 0) error = {errno, std::system_category()};
  if (error) unlink(draft.c_str());
  return error;
}

}  // namespace einkorn
