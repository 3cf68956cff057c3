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
namespace {

bool is_folder(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// The system's error, 0 when it is there. With bits that the umask may take away, it is made aside
/// and renamed: nobody who shares the store finds it closed.
int make_folder(const std::string& path, mode_t mode) {
  if (mode == Modes{}.folder) {
    return mkdir(path.c_str(), mode) == 0 || errno == EEXIST ? 0 : errno;
  }
  if (is_folder(path)) return 0;
  const std::string draft = fmt::format("{}.{}", path, unique_name());
  if (mkdir(draft.c_str(), 0700) != 0) return errno;
  if (chmod(draft.c_str(), mode) == 0 && rename(draft.c_str(), path.c_str()) == 0) return 0;
  const int error = errno;
  rmdir(draft.c_str());
  return is_folder(path) ? 0 : error;
}

}  // namespace

std::string reason_of(int error) { return std::system_category().message(error); }

std::string make_folders(const std::string& path, const Modes& modes) {
  int error = make_folder(path, modes.folder);
  const std::size_t slash = path.rfind('/');
  if (error == ENOENT && slash != std::string::npos && slash != 0) {
    if (std::string reason = make_folders(path.substr(0, slash), modes); !reason.empty()) {
      return reason;
    }
    error = make_folder(path, modes.folder);
  }
  return error == 0 ? std::string() : reason_of(error);
}

std::string write_new(const std::string& path, std::span<const std::byte> bytes,
                      const Modes& modes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, modes.file);
  if (file < 0) return reason_of(errno);
  std::string reason;
  // The umask may have taken bits away.
  if (modes.file != Modes{}.file && fchmod(file, modes.file) != 0) reason = reason_of(errno);
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

void remove_entry(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::uint64_t allocated(const struct stat& info) {
  constexpr std::uint64_t kBlock = 512;  // whatever st_blksize says
  return kBlock * static_cast<std::uint64_t>(info.st_blocks);
}

std::uint64_t allocated(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0 ? allocated(info) : 0;
}

std::uint64_t allocated_below(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr auto kSkip = fs::directory_options::skip_permission_denied;
  std::uint64_t sum = allocated(path);
  std::error_code error;
  for (fs::recursive_directory_iterator at(path, kSkip, error), end; !error && at != end;
       at.increment(error)) {
    sum += allocated(at->path().string());
  }
  return sum;
}

}  // namespace einkorn::jit::disk
