#include "src/jit/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <random>
#include <system_error>

#include <fmt/format.h>

#include "src/core/file.h"

namespace einkorn::jit::disk {
std::string reason_of(int error) { return std::system_category().message(error); }

std::string make_folders(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  if (errno != ENOENT) return reason_of(errno);
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0) return reason_of(ENOENT);
  if (std::string reason = make_folders(path.substr(0, slash)); !reason.empty()) return reason;
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST ? std::string() : reason_of(errno);
}

std::string write_new(const std::string& path, std::span<const std::byte> bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return reason_of(errno);
  std::string reason;
  if (const std::error_code error = write_all(file, bytes)) reason = error.message();
  // Some file systems report a full disk only here.
  if (close(file) != 0 && reason.empty()) reason = reason_of(errno);
  return reason;
}

std::string unique_name() {
  static std::atomic<unsigned> counter{0};
  std::random_device random;
  return fmt::format("{}-{:08x}{:08x}-{}", getpid(), random(), random(), counter++);
}

void remove_entry(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace einkorn::jit::disk
