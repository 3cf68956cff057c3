#include "src/jit/store_upkeep.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "src/jit/disk.h"
#include "src/jit/store.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::system_clock;

// Nobody takes that long between making a private folder and renaming it.
constexpr std::chrono::hours kAbandoned{1};

fs::path version_folder(std::string_view root) { return fs::path(root) / "v1"; }

/// The folders in `path`; none when it cannot be read.
std::vector<fs::path> folders_in(const fs::path& path) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) out.push_back(at->path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

struct FileFacts {
  std::uint64_t bytes = 0;
  Clock::time_point modified;
  bool there = false;
};

FileFacts facts_of(const fs::path& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return {};
  return {static_cast<std::uint64_t>(info.st_size),
          Clock::time_point(std::chrono::duration_cast<Clock::duration>(
              std::chrono::seconds(info.st_mtim.tv_sec) +
              std::chrono::nanoseconds(info.st_mtim.tv_nsec))),
          true};
}

bool is_arch_folder(const fs::path& path) {
  const std::string name = path.filename().string();
  return name != "tmp" && name != "quarantine" && name != "deps" && !name.starts_with("trash-");
}

/// Out of sight at once, then removed: no reader meets half an entry.
bool remove_whole(std::string_view root, const std::string& folder) {
  const fs::path trash = version_folder(root) / ("trash-" + disk::unique_name());
  std::error_code error;
  fs::rename(folder, trash, error);
  if (error) return false;
  disk::remove_entry(trash.string());
  return true;
}

/// Private folders and trash of processes that are gone, and damaged entries nobody looked at.
void sweep(std::string_view root) {
  const fs::path version = version_folder(root);
  std::vector<fs::path> left = folders_in(version / "tmp");
  for (const fs::path& folder : folders_in(version / "quarantine")) left.push_back(folder);
  for (const fs::path& folder : folders_in(version)) {
    if (folder.filename().string().starts_with("trash-")) left.push_back(folder);
  }
  for (const fs::path& folder : left) {
    const FileFacts facts = facts_of(folder);
    if (facts.there && Clock::now() - facts.modified > kAbandoned) {
      disk::remove_entry(folder.string());
    }
  }
}

}  // namespace

std::vector<StoreEntry> list_entries(std::string_view root) {
  std::vector<StoreEntry> out;
  for (const fs::path& arch : folders_in(version_folder(root))) {
    if (!is_arch_folder(arch)) continue;
    for (const fs::path& fan : folders_in(arch)) {
      for (const fs::path& folder : folders_in(fan)) {
        const FileFacts artifact = facts_of(folder / "artifact.bin");
        if (!artifact.there) continue;
        out.push_back({folder.string(), arch.filename().string(), folder.filename().string(),
                       artifact.bytes + facts_of(folder / "meta.json").bytes, artifact.modified});
      }
    }
  }
  return out;
}

std::uint64_t total_bytes(const std::vector<StoreEntry>& entries) {
  std::uint64_t sum = 0;
  for (const StoreEntry& entry : entries) sum += entry.bytes;
  return sum;
}

Collected collect_garbage(std::string_view root, std::uint64_t max_bytes) {
  sweep(root);
  std::vector<StoreEntry> entries = list_entries(root);
  Collected out;
  out.left = total_bytes(entries);
  if (out.left <= max_bytes) return out;
  std::ranges::stable_sort(entries, {}, &StoreEntry::used);
  const std::uint64_t goal = max_bytes - max_bytes / 10;
  for (const StoreEntry& entry : entries) {
    if (out.left <= goal) break;
    if (!remove_whole(root, entry.folder)) continue;
    out.left -= entry.bytes;
    out.freed += entry.bytes;
    ++out.removed;
  }
  return out;
}

std::vector<Unsound> verify_store(std::string_view root) {
  std::vector<Unsound> out;
  for (const fs::path& arch : folders_in(version_folder(root))) {
    if (!is_arch_folder(arch)) continue;
    for (const fs::path& fan : folders_in(arch)) {
      for (const fs::path& folder : folders_in(fan)) {
        const auto key = Digest::parse(folder.filename().string());
        if (!key) {
          out.push_back({folder.string(), "its name is not a key"});
          continue;
        }
        const Store::Found found = read_packed(root, arch.filename().string(), *key);
        if (found.artifact == nullptr) out.push_back({folder.string(), found.reason});
      }
    }
  }
  for (const fs::path& folder : folders_in(version_folder(root) / "quarantine")) {
    out.push_back({folder.string(), "found damaged by a reader"});
  }
  return out;
}

std::string clear_store(std::string_view root) {
  std::error_code error;
  fs::remove_all(version_folder(root), error);
  return error ? error.message() : std::string();
}

}  // namespace einkorn::jit
