#include "src/jit/store_upkeep.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "src/core/file.h"
#include "src/jit/disk.h"
#include "src/jit/meta.h"
#include "src/jit/store.h"
#include "src/jit/store_size.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;

// Nobody takes that long between making a private folder and renaming it.
constexpr std::time_t kAbandonedSeconds = 3600;

/// Something that may be removed to make room.
struct Removable {
  std::string path;
  std::uint64_t bytes = 0;
  std::chrono::system_clock::time_point used;
  bool is_entry = false;
};

std::vector<Removable> longest_unused_first(const StoreContent& content) {
  std::vector<Removable> out;
  out.reserve(content.entries.size() + content.dependencies.size());
  for (const StoreEntry& one : content.entries)
    out.push_back({one.folder, one.bytes, one.used, true});
  for (const StoreDependencies& one : content.dependencies)
    out.push_back({one.path, one.bytes, one.used, false});
  std::ranges::stable_sort(out, {}, &Removable::used);
  return out;
}

/// Bytes that went with the folder above, which goes once it is empty.
std::uint64_t remove_empty_parent(const std::string& path) {
  const std::string parent = path.substr(0, path.rfind('/'));
  const std::uint64_t bytes = disk::allocated(parent);
  return rmdir(parent.c_str()) == 0 ? bytes : 0;
}

/// Bytes that went.
std::uint64_t remove_leftover(const std::string& path) {
  const std::uint64_t before = disk::allocated_below(path);
  disk::remove_entry(path);
  return before - std::min(before, disk::allocated_below(path));
}

bool is_abandoned(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0 &&
         std::time(nullptr) - info.st_mtim.tv_sec > kAbandonedSeconds;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    out.push_back(at->path().string());
  }
  return out;
}

/// What is wrong with the entry; empty: nothing.
std::string unsound_reason(std::string_view root, const StoreEntry& entry) {
  const auto key = Digest::parse(entry.key);
  if (!key) return "its name is not a key";
  const Store::Found found = read_packed(root, entry.arch, *key);
  if (found.artifact == nullptr) {
    return found.reason == "miss" ? "artifact.bin is missing" : found.reason;
  }
  const FileContent text = read_file(entry.folder + "/meta.json");
  if (text.error) return "meta.json cannot be read: " + text.error.message();
  const auto meta = parse_meta(text.text);
  if (!meta) return "meta.json has another form";
  if (meta->key != entry.key) return fmt::format("meta.json is of another key, {}", meta->key);
  if (meta->parts.arch != entry.arch) return fmt::format("it is for {}", meta->parts.arch);
  return {};
}

std::vector<Unsound> unsound_entries(std::string_view root, const StoreContent& content) {
  std::vector<Unsound> out;
  for (const StoreEntry& entry : content.entries) {
    std::string reason = unsound_reason(root, entry);
    std::error_code ignored;
    if (!reason.empty() && fs::exists(entry.folder, ignored)) {
      out.push_back({entry.folder, std::move(reason)});
    }
  }
  return out;
}

}  // namespace

bool remove_whole(std::string_view root, const std::string& folder) {
  const std::string trash = version_folder(root) + "/trash-" + disk::unique_name();
  if (rename(folder.c_str(), trash.c_str()) != 0) return false;
  disk::remove_entry(trash);
  return true;
}

void sweep(std::string_view root) {
  const std::string version = version_folder(root);
  std::vector<std::string> left = names_in(version + "/tmp");
  std::ranges::move(names_in(version + "/quarantine"), std::back_inserter(left));
  for (std::string& path : names_in(version)) {
    if (fs::path(path).filename().string().starts_with("trash-")) left.push_back(std::move(path));
  }
  for (const std::string& path : left) {
    if (is_abandoned(path)) disk::remove_entry(path);
  }
}

Collected collect_garbage(std::string_view root, std::uint64_t max_bytes) {
  sweep(root);
  const StoreContent content = look_over(root);
  Collected out;
  out.left = content.bytes;
  if (out.left <= max_bytes) {
    keep_size(root, out.left);
    return out;
  }
  const std::uint64_t goal = max_bytes - max_bytes / 10;
  const auto went = [&](std::uint64_t bytes) {
    out.left -= std::min(bytes, out.left);
    out.freed += bytes;
  };
  for (const std::string& path : content.quarantined) went(remove_leftover(path));
  for (const Removable& one : longest_unused_first(content)) {
    if (out.left <= goal) break;
    const bool gone = one.is_entry ? remove_whole(root, one.path) : unlink(one.path.c_str()) == 0;
    if (!gone) continue;
    went(one.bytes + remove_empty_parent(one.path));
    if (one.is_entry) ++out.removed;
  }
  keep_size(root, out.left);
  return out;
}

std::vector<Unsound> verify_store(std::string_view root) {
  const StoreContent content = look_over(root);
  std::vector<Unsound> out = unsound_entries(root, content);
  for (const std::string& path : content.quarantined) {
    out.push_back({path, "found damaged by a reader"});
  }
  out.insert(out.end(), content.unreadable.begin(), content.unreadable.end());
  return out;
}

Collected remove_unsound(std::string_view root) {
  const StoreContent content = look_over(root);
  Collected out;
  for (const std::string& path : content.quarantined) out.freed += remove_leftover(path);
  for (const Unsound& one : unsound_entries(root, content)) {
    const std::uint64_t bytes = disk::allocated_below(one.path);
    if (!remove_whole(root, one.path)) continue;
    out.freed += bytes + remove_empty_parent(one.path);
    ++out.removed;
  }
  out.left = content.bytes - std::min(content.bytes, out.freed);
  keep_size(root, out.left);
  return out;
}

std::string clear_store(std::string_view root) {
  std::error_code error;
  fs::remove_all(version_folder(root), error);
  if (!error) fs::remove_all(fs::path(root) / "compilers", error);
  return error ? error.message() : std::string();
}

}  // namespace einkorn::jit
