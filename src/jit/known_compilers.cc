#include "src/jit/known_compilers.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <span>
#include <system_error>

#include <fmt/format.h>

#include "src/core/file.h"
#include "src/jit/digest.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;

// Those of the last upgrades; a look-up of each is one open() that fails.
constexpr std::size_t kMost = 8;

std::string folder_of(std::string_view root, std::string_view compiler) {
  return fmt::format("{}/compilers/{}", root, compiler);
}

/// A file for each, so that nobody has to replace what another user wrote.
std::string name_of(const std::string& identity) {
  return digest_of(std::as_bytes(std::span(identity))).hex().substr(0, 32);
}

}  // namespace

std::vector<std::string> known_identities(std::string_view root, std::string_view compiler) {
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator it(folder_of(root, compiler), error), end; !error && it != end;
       it.increment(error)) {
    std::error_code gone;
    const fs::file_time_type time = fs::last_write_time(it->path(), gone);
    const FileContent content = read_file(it->path().string());
    // What is on its way, or was cut off, is not what its name says.
    if (gone || name_of(content.text) != it->path().filename()) continue;
    found.emplace_back(time, content.text);
  }
  std::ranges::sort(found, std::greater());
  found.resize(std::min(found.size(), kMost));
  std::vector<std::string> out;
  out.reserve(found.size());
  for (auto& [time, identity] : found) out.push_back(std::move(identity));
  return out;
}

std::string keep_identity(std::string_view root, std::string_view compiler,
                          const std::string& identity, const disk::Modes& modes) {
  const std::string folder = folder_of(root, compiler);
  const std::string path = fmt::format("{}/{}", folder, name_of(identity));
  if (access(path.c_str(), F_OK) == 0) return {};
  std::string reason = disk::make_folders(folder, modes);
  if (!reason.empty()) return reason;
  const std::string temporary = fmt::format("{}/{}", folder, disk::unique_name());
  reason = disk::write_new(temporary, std::as_bytes(std::span(identity)), modes);
  if (reason.empty() && std::rename(temporary.c_str(), path.c_str()) != 0) {
    reason = disk::reason_of(errno);
  }
  if (!reason.empty()) unlink(temporary.c_str());
  return reason;
}

}  // namespace einkorn::jit
