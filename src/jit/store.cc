#include "src/jit/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "src/core/file.h"
#include "src/core/warning.h"
#include "src/jit/artifact_file.h"
#include "src/jit/codec.h"
#include "src/jit/disk.h"
#include "src/jit/known_compilers.h"
#include "src/jit/meta.h"
#include "src/jit/store_size.h"
#include "src/jit/store_upkeep.h"

namespace einkorn::jit {
namespace {

std::string deps_file(std::string_view root, const Digest& key) {
  const std::string hex = key.hex();
  return fmt::format("{}/deps/{}/{}", version_folder(root), hex.substr(0, 2), hex);
}

/// Renames a file into place, over what is there.
std::string move_file(const std::string& from, const std::string& to, const disk::Modes& modes) {
  constexpr int kAttempts = 10;
  for (int attempt = 1;; ++attempt) {
    if (rename(from.c_str(), to.c_str()) == 0) return {};
    if (errno != ENOENT || attempt == kAttempts) return disk::reason_of(errno);
    // The folder above was never made, or went when it was empty.
    std::string reason = disk::make_folders(to.substr(0, to.rfind('/')), modes);
    if (!reason.empty()) return reason;
  }
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

Store::Found unpack(const Digest& key, int file) {
  const FileContent content = read_file(file);
  if (content.error) return {nullptr, "cannot be read: " + content.error.message()};
  Unpacked unpacked = unpack_artifact(key, std::as_bytes(std::span(content.text)));
  return {std::move(unpacked.artifact), std::move(unpacked.reason)};
}

}  // namespace

std::string version_folder(std::string_view root) { return fmt::format("{}/v1", root); }

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

Store::Store(StoreOptions options) : options_(std::move(options)) {
  for (const std::string& root : options_.also_read) {
    behind_.push_back(std::make_unique<Store>(StoreOptions{.root = root,
                                                           .trust = options_.trust,
                                                           .owner = options_.owner,
                                                           .read_only = "only read from",
                                                           .also_read = {}}));
  }
}

Store::Found Store::lookup(const Digest& key, std::string_view arch) {
  Found found = lookup_here(key, arch);
  for (const auto& other : behind_) {
    if (found.artifact != nullptr) break;
    Found behind = other->lookup(key, arch);
    if (behind.artifact != nullptr || found.reason == "miss") found = std::move(behind);
  }
  return found;
}

Store::Found Store::lookup_here(const Digest& key, std::string_view arch) {
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
  if (info.st_uid != options_.owner && info.st_uid != 0) {
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
  std::string reason = options_.read_only;
  if (reason.empty()) reason = disk::make_folders(shelf, modes());
  const std::string to = fmt::format("{}/{}-{}", shelf, key.hex(), disk::unique_name());
  // ENOENT: another reader moved it first.
  if (reason.empty() && rename(folder.c_str(), to.c_str()) != 0 && errno != ENOENT) {
    reason = disk::reason_of(errno);
  }
  // Its time there begins now, whenever it was published.
  if (reason.empty()) static_cast<void>(utimensat(AT_FDCWD, to.c_str(), nullptr, 0));
  if (reason.empty()) return "; moved to quarantine";
  warn_once(
      fmt::format("{} is damaged and in the way, its kernel is compiled by each process: it "
                  "could not be moved to quarantine: {}",
                  folder, reason));
  return fmt::format("; could not be moved to quarantine: {}", reason);
}

/// A trusted root is shared as its owner has shared it; any other is private.
disk::Modes Store::modes() const {
  struct stat info{};
  if (!options_.trust || stat(options_.root.c_str(), &info) != 0) return {};
  return {.folder = (info.st_mode & 07777) | 0700, .file = (info.st_mode & 0444) | 0600};
}

/// Renames an entry into place. One that is there already: somebody was faster, which is as good.
std::string Store::move_into_place(const std::string& from, const std::string& to) const {
  const std::string parent = to.substr(0, to.rfind('/'));
  constexpr int kAttempts = 10;
  for (int attempt = 1;; ++attempt) {
    if (rename(from.c_str(), to.c_str()) == 0) return {};
    const int error = errno;
    if (error != ENOENT && exists(to + "/artifact.bin")) {
      disk::remove_entry(from);
      return {};
    }
    if (attempt == kAttempts) return disk::reason_of(error);
    if (error == EEXIST || error == ENOTEMPTY) {
      // What is left of an entry would be in the way for ever.
      if (!remove_whole(options_.root, to)) return disk::reason_of(error);
    } else if (error != ENOENT) {
      return disk::reason_of(error);
    } else if (std::string reason = disk::make_folders(parent, modes()); !reason.empty()) {
      return reason;  // the folder above was never made, or went when it was empty
    }
  }
}

std::string Store::publish(const Digest& key, std::string_view arch, const Artifact& artifact,
                           const KeyParts& parts) {
  if (!options_.read_only.empty()) return options_.read_only;
  const std::string temporary =
      fmt::format("{}/tmp/{}", version_folder(options_.root), disk::unique_name());
  const std::string folder = entry_folder(options_.root, arch, key);
  const disk::Modes modes = this->modes();
  std::string reason = disk::make_folders(temporary, modes);
  const std::vector<std::byte> bytes = pack_artifact(key, artifact);
  const std::string meta = meta_text(key, artifact, parts);
  if (reason.empty()) reason = disk::write_new(temporary + "/artifact.bin", bytes, modes);
  if (reason.empty()) {
    reason = disk::write_new(temporary + "/meta.json", std::as_bytes(std::span(meta)), modes);
  }
  if (reason.empty()) reason = move_into_place(temporary, folder);
  if (!reason.empty()) {
    disk::remove_entry(temporary);
    return reason;
  }
  keep_within_cap(folder);
  return {};
}

/// Counts what is new at `path`.
void Store::keep_within_cap(const std::string& path) {
  const std::lock_guard lock(cap_mutex_);
  // The folder above may be as new.
  const std::uint64_t added =
      disk::allocated_below(path) + disk::allocated(path.substr(0, path.rfind('/')));
  if (!std::exchange(swept_, true)) sweep(options_.root);
  std::optional<std::uint64_t> size = kept_size(options_.root);
  if (size) {
    *size += added;
    add_to_size(options_.root, added);
  } else {
    size = look_over(options_.root).bytes;
    keep_size(options_.root, *size);
  }
  if (*size > options_.max_bytes) collect_garbage(options_.root, options_.max_bytes);
}

std::optional<std::vector<std::string>> Store::dependencies(const Digest& key) const {
  auto found = dependencies_here(key);
  for (const auto& other : behind_) {
    if (found) break;
    found = other->dependencies(key);
  }
  return found;
}

std::optional<std::vector<std::string>> Store::dependencies_here(const Digest& key) const {
  const int file = open(deps_file(options_.root, key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return std::nullopt;
  const FileContent content = untrusted(file).empty() ? read_file(file) : FileContent{};
  static_cast<void>(futimens(file, nullptr));  // as with an artifact
  close(file);
  Reader in(std::as_bytes(std::span(content.text)));
  std::vector<std::string> out = in.texts();
  if (!in.at_end()) return std::nullopt;
  return out;
}

std::string Store::set_dependencies(const Digest& key, const std::vector<std::string>& paths) {
  if (!options_.read_only.empty()) return options_.read_only;
  Writer content;
  content.put(paths);
  const std::string path = deps_file(options_.root, key);
  const std::string folder = version_folder(options_.root) + "/tmp";
  const std::string temporary = fmt::format("{}/{}", folder, disk::unique_name());
  const disk::Modes modes = this->modes();
  std::string reason = disk::make_folders(folder, modes);
  if (reason.empty()) reason = disk::write_new(temporary, content.bytes(), modes);
  if (reason.empty()) reason = move_file(temporary, path, modes);
  if (!reason.empty()) {
    unlink(temporary.c_str());
    // In a sticky folder nobody replaces what another wrote; mostly it says the same.
    if (dependencies_here(key) == paths) return {};
    return reason;
  }
  keep_within_cap(path);
  return {};
}

std::vector<std::string> Store::identities(std::string_view compiler) const {
  std::vector<std::string> out = known_identities(options_.root, compiler);
  for (const auto& other : behind_)
    std::ranges::move(other->identities(compiler), std::back_inserter(out));
  return out;
}

std::string Store::set_identity(std::string_view compiler, const std::string& identity) {
  if (!options_.read_only.empty()) return options_.read_only;
  return keep_identity(options_.root, compiler, identity, modes());
}

std::string Store::lock_file() const {
  const std::string folder = version_folder(options_.root);
  std::string path = folder + "/lock";
  if (!options_.read_only.empty() || exists(path)) return path;
  disk::Modes modes = this->modes();
  static_cast<void>(disk::make_folders(folder, modes));
  // Whoever may write to the store may lock.
  modes.file = modes.folder & 0666;
  static_cast<void>(disk::write_new(path, {}, modes));
  return path;  // trouble shows when it is opened
}

}  // namespace einkorn::jit
