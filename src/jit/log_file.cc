#include "src/jit/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "src/core/environment.h"
#include "src/core/file.h"

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

}  // namespace

LogFile write_log(std::string_view stem, std::string_view text) {
  static std::atomic<unsigned> counter{0};
  const std::string own = fmt::format("{}/einkorn-{}", temporary_root(), geteuid());
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
  std::error_code error = write_all(file, std::as_bytes(std::span(text)));
  if (close(file) != 0 && !error) error = {errno, std::system_category()};
  if (!error) return {path, {}};
  unlink(path.c_str());  // a partial log would be taken for the whole
  return {{}, fmt::format("{}: {}", path, error.message())};
}

}  // namespace einkorn::jit
