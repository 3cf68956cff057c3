#include "src/jit/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>

namespace einkorn::jit {
namespace {

std::string reason_of(int error, std::string_view path) {
  return fmt::format("{}: {}", path, std::system_category().message(error));
}

/// Empty when `path` is now a folder of ours that nobody else can write to, otherwise why not.
std::string make_private_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return reason_of(errno, path);
  struct stat info{};
  // lstat: in a shared /tmp a link could lead our writes elsewhere.
  if (lstat(path.c_str(), &info) != 0) return reason_of(errno, path);
  if (!S_ISDIR(info.st_mode)) return fmt::format("{}: is not a folder", path);
  if (info.st_uid != geteuid()) return fmt::format("{}: belongs to another user", path);
  if ((info.st_mode & 0022) != 0) return fmt::format("{}: others may write to it", path);
  return {};
}

std::string write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return std::system_category().message(errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

LogFile write_log(std::string_view stem, std::string_view text) {
  static std::atomic<unsigned> counter{0};
  const char* tmpdir = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): read only
  const std::string root = tmpdir == nullptr || tmpdir[0] == '\0' ? "/tmp" : tmpdir;
  const std::string own = fmt::format("{}/einkorn-{}", root, geteuid());
  const std::string folder = own + "/logs";
  for (const std::string& path : {own, folder}) {
    if (std::string reason = make_private_folder(path); !reason.empty()) return {{}, reason};
  }
  std::string safe(stem);
  for (char& c : safe) {
    if (c == '/' || c == '\\' || c == '\0') c = '_';
  }
  safe.resize(std::min<std::size_t>(safe.size(), 120));
  const std::string path = fmt::format("{}/{}-{}-{}.log", folder, safe, getpid(), counter++);
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return {{}, reason_of(errno, path)};
  std::string reason = write_all(file, text);
  if (close(file) != 0 && reason.empty()) reason = std::system_category().message(errno);
  if (reason.empty()) return {path, {}};
  unlink(path.c_str());  // a partial log would be taken for the whole
  return {{}, fmt::format("{}: {}", path, reason)};
}

}  // namespace einkorn::jit
