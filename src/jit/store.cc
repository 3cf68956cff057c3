#include "src/jit/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include <fmt/format.h>

#include "src/core/file.h"
#include "src/jit/artifact_file.h"
#include "src/jit/codec.h"
#include "src/jit/disk.h"
#include "src/jit/meta.h"
#include "src/jit/store_upkeep.h"

namespace einkorn::jit {
namespace {

// The size on disk is read again after so many entries, as other processes publish too.
constexpr unsigned kRecount = 256;

std::string version_folder(std::string_view root) { return fmt::format("{}/v1", root); }

std::string deps_file(std::string_view root, const Digest& key) {
  const std::string hex = key.hex();
  return fmt::format("{}/deps/{}/{}", version_folder(root), hex.substr(0, 2), hex);
}

/// Renames a folder into place. EEXIST and ENOTEMPTY: somebody was faster, which is as good.
std::string move_into_place(const std::string& from, const std::string& to) {
  const std::string parent = to.substr(0, to.rfind('/'));
  for (int attempt = 0;; ++attempt) {
    if (rename(from.c_str(), to.c_str()) == 0) return {};
    if (errno == EEXIST || errno == ENOTEMPTY) {
      disk::remove_entry(from);
      return {};
    }
    if (errno != ENOENT || attempt > 0) return disk::reason_of(errno);
    // The folder above was never made, or swept away meanwhile.
    if (std::string reason = disk::make_folders(parent); !reason.empty()) return reason;
  }
}

Store::Found unpack(const Digest& key, int file) {
  const FileContent content = read_file(file);
  if (content.error) return {nullptr, "cannot be read: " + content.error.message()};
  Unpacked unpacked = unpack_artifact(key, std::as_bytes(std::span(content.text)));
  return {std::move(unpacked.artifact), std::move(unpacked.reason)};
}

}  // namespace

std::string entry_folder(std::string_view root, std::string_view arch, const Digest& key) {
  const std::string hex = key.hex();
  return fmt::format("{}/{}/{}/{}", version_folder(root), arch, hex.substr(0, 2), hex);
}

Store::Found read_packed(std::string_view root, std::string_view arch, const Digest& key) {
  const std::string path = entry_folder(root, arch, key) + "/artifact.bin";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {nullptr, errno == ENOENT ? "miss" : disk::reason_of(errno)};
  Store::Found found = unpack(key, file);
  close(file);
  if (found.artifact == nullptr) found.reason = fmt::format("damaged: {}", found.reason);
  return found;
}

Store::Found Store::lookup(const Digest& key, std::string_view arch) {
  const std::string folder = entry_folder(options_.root, arch, key);
  const std::string path = folder + "/artifact.bin";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return {nullptr, errno == ENOENT ? "miss" : disk::reason_of(errno)};
  std::string reason = untrusted(file);
  if (!reason.empty()) {
    close(file);
    return {nullptr, "not loaded: " + reason};
  }
  Found found = unpack(key, file);
  // Least-recently-used order is by this time; a read-only root keeps its order.
  if (found.artifact != nullptr) static_cast<void>(futimens(file, nullptr));
  close(file);
  if (found.artifact == nullptr) {
    found.reason = fmt::format("damaged: {}{}", found.reason, quarantine(folder, key));
  }
  return found;
}

std::string Store::untrusted(int file) const {
  if (options_.trust) return {};
  struct stat info{};
  if (fstat(file, &info) != 0) return disk::reason_of(errno);
  if (info.st_uid != options_.owner) {
    return fmt::format("it belongs to user {}, expected {} (EINKORN_CACHE_TRUST=1 loads it)",
                       info.st_uid, options_.owner);
  }
  if ((info.st_mode & 0022) != 0) {
    return fmt::format("others may write to it, mode {:04o} (EINKORN_CACHE_TRUST=1 loads it)",
                       info.st_mode & 07777);
  }
  return {};
}

std::string Store::quarantine(const std::string& folder, const Digest& key) const {
  const std::string shelf = version_folder(options_.root) + "/quarantine";
  std::string reason = disk::make_folders(shelf);
  const std::string to = fmt::format("{}/{}-{}", shelf, key.hex(), disk::unique_name());
  // ENOENT: another reader moved it first.
  if (reason.empty() && rename(folder.c_str(), to.c_str()) != 0 && errno != ENOENT) {
    reason = disk::reason_of(errno);
  }
  return reason.empty() ? "; moved to quarantine"
                        : fmt::format("; could not be moved to quarantine: {}", reason);
}

std::string Store::publish(const Digest& key, std::string_view arch, const Artifact& artifact,
                           const KeyParts& parts) {
  const std::string temporary =
      fmt::format("{}/tmp/{}", version_folder(options_.root), disk::unique_name());
  std::string reason = disk::make_folders(temporary);
  const std::vector<std::byte> bytes = pack_artifact(key, artifact);
  const std::string meta = meta_text(key, artifact, parts);
  if (reason.empty()) reason = disk::write_new(temporary + "/artifact.bin", bytes);
  if (reason.empty()) {
    reason = disk::write_new(temporary + "/meta.json", std::as_bytes(std::span(meta)));
  }
  if (reason.empty()) {
    reason = move_into_place(temporary, entry_folder(options_.root, arch, key));
  }
  if (!reason.empty()) {
    disk::remove_entry(temporary);
    return reason;
  }
  keep_within_cap(bytes.size() + meta.size());
  return {};
}

void Store::keep_within_cap(std::uint64_t added) {
  const std::lock_guard lock(cap_mutex_);
  size_ += added;
  if (!size_known_ || ++published_ >= kRecount) {
    size_ = total_bytes(list_entries(options_.root));
    size_known_ = true;
    published_ = 0;
  }
  if (size_ > options_.max_bytes) size_ = collect_garbage(options_.root, options_.max_bytes).left;
}

std::optional<std::vector<std::string>> Store::dependencies(const Digest& key) const {
  const int file = open(deps_file(options_.root, key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return std::nullopt;
  const FileContent content = untrusted(file).empty() ? read_file(file) : FileContent{};
  close(file);
  Reader in(std::as_bytes(std::span(content.text)));
  std::vector<std::string> out = in.texts();
  if (!in.at_end()) return std::nullopt;
  return out;
}

std::string Store::set_dependencies(const Digest& key, const std::vector<std::string>& paths) {
  Writer content;
  content.put(paths);
  const std::string path = deps_file(options_.root, key);
  const std::string temporary = fmt::format("{}.{}", path, disk::unique_name());
  std::string reason = disk::make_folders(path.substr(0, path.rfind('/')));
  if (reason.empty()) reason = disk::write_new(temporary, content.bytes());
  if (reason.empty() && rename(temporary.c_str(), path.c_str()) != 0) {
    reason = disk::reason_of(errno);
  }
  if (!reason.empty()) unlink(temporary.c_str());
  return reason;
}

std::string Store::lock_file() const {
  // Trouble shows when the lock file is opened.
  static_cast<void>(disk::make_folders(version_folder(options_.root)));
  return version_folder(options_.root) + "/lock";
}

}  // namespace einkorn::jit
