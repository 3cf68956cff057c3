#include "src/jit/cache_root.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "src/jit/store.h"

namespace einkorn::jit {
namespace {

std::string reason_of(int error) { return std::system_category().message(error); }

/// Makes the folder and those above it; only the last gets the private mode.
std::string make(const std::string& root) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(root).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (error) return error.message();
  if (mkdir(root.c_str(), 0700) != 0 && errno != EEXIST) return reason_of(errno);
  return {};
}

/// By the effective user, as opening a file goes by it.
bool allows(const std::string& path, int mode) {
  return faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

}  // namespace

RootUse use_of_root(const std::string& root, uid_t owner, bool trust) {
  if (std::string reason = make(root); !reason.empty()) return {.refused = reason};
  struct stat info{};
  if (stat(root.c_str(), &info) != 0) return {.refused = reason_of(errno)};
  if (!S_ISDIR(info.st_mode)) return {.refused = "it is not a folder"};
  if (!trust && info.st_uid != owner && info.st_uid != 0) {
    return {.refused = fmt::format("it belongs to user {}, expected {}", info.st_uid, owner)};
  }
  if (!trust && (info.st_mode & 0022) != 0) {
    return {.refused = fmt::format("others may write to it (mode {:04o}, expected 0700)",
                                   info.st_mode & 07777)};
  }
  if (!allows(root, R_OK | X_OK)) return {.refused = reason_of(errno)};
  if (!allows(root, W_OK)) return {.read_only = reason_of(errno)};
  return {};
}

CacheRoot find_cache_root(const Settings& settings, bool make) {
  CacheRoot out;
  CacheRoot readable;
  for (const std::string& root : cache_candidates(settings)) {
    std::error_code ignored;
    if (!make && !std::filesystem::exists(root, ignored)) continue;
    const RootUse use = use_of_root(root, geteuid(), settings.trust);
    if (!use.refused.empty()) {
      out.refused.push_back(fmt::format("{}: {}", root, use.refused));
    } else if (use.read_only.empty()) {
      out.path = root;
      return out;
    } else {
      if (readable.path.empty()) {
        readable = {.path = root, .read_only = use.read_only, .refused = out.refused};
      }
      if (std::filesystem::exists(version_folder(root), ignored)) out.also_read.push_back(root);
      out.refused.push_back(fmt::format("{}: only read from: {}", root, use.read_only));
    }
  }
  if (readable.path.empty()) return out;
  // The first that can be read; the others are asked after it.
  std::erase(out.also_read, readable.path);
  readable.also_read = std::move(out.also_read);
  return readable;
}

}  // namespace einkorn::jit
