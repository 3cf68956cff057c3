#include "src/jit/cache_root.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

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

}  // namespace

std::string cannot_use_root(const std::string& root, uid_t owner, bool trust) {
  if (std::string reason = make(root); !reason.empty()) return reason;
  struct stat info{};
  if (stat(root.c_str(), &info) != 0) return reason_of(errno);
  if (!S_ISDIR(info.st_mode)) return "it is not a folder";
  if (!trust && info.st_uid != owner) {
    return fmt::format("it belongs to user {}, expected {}", info.st_uid, owner);
  }
  if (!trust && (info.st_mode & 0022) != 0) {
    return fmt::format("others may write to it (mode {:04o}, expected 0700)", info.st_mode & 07777);
  }
  if (access(root.c_str(), R_OK | W_OK | X_OK) != 0) return reason_of(errno);
  return {};
}

CacheRoot find_cache_root(const Settings& settings, bool make) {
  CacheRoot out;
  for (const std::string& root : cache_candidates(settings)) {
    std::error_code ignored;
    if (!make && !std::filesystem::exists(root, ignored)) continue;
    const std::string reason = cannot_use_root(root, geteuid(), settings.trust);
    if (reason.empty()) {
      out.path = root;
      break;
    }
    out.refused.push_back(fmt::format("{}: {}", root, reason));
  }
  return out;
}

}  // namespace einkorn::jit
