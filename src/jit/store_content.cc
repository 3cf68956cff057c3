#include "src/jit/store_content.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "src/jit/disk.h"
#include "src/jit/store.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::system_clock;

struct Facts {
  std::uint64_t bytes = 0;
  Clock::time_point modified;
};

/// Nothing when it is not there.
std::optional<Facts> facts_of(const std::string& path) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) return std::nullopt;
  return Facts{disk::allocated(info), Clock::time_point(std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::seconds(info.st_mtim.tv_sec) +
                                          std::chrono::nanoseconds(info.st_mtim.tv_nsec)))};
}

class Look {
 public:
  explicit Look(std::string_view root) : version_(version_folder(root)) {}

  StoreContent all() {
    for (const fs::directory_entry& at : in(version_)) {
      const std::string name = at.path().filename().string();
      if (name == "deps") {
        for (const fs::directory_entry& fan : in(at.path())) add_dependencies(fan);
      } else if (name == "tmp" || name == "quarantine") {
        auto& into = name == "tmp" ? out_.leftovers : out_.quarantined;
        for (const fs::directory_entry& one : in(at.path())) add_whole(one, into);
      } else if (name.starts_with("trash-")) {
        add_whole(at, out_.leftovers);
      } else if (is_folder(at)) {
        for (const fs::directory_entry& fan : in(at.path())) add_entries(fan, name);
      } else {
        out_.bytes += disk::allocated(at.path().string());  // the lock, the size
      }
    }
    return std::move(out_);
  }

 private:
  static bool is_folder(const fs::directory_entry& at) {
    std::error_code ignored;
    return at.is_directory(ignored) && !at.is_symlink(ignored);
  }

  /// What is in the folder, which is counted, in order.
  std::vector<fs::directory_entry> in(const fs::path& folder) {
    std::vector<fs::directory_entry> out;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      out.push_back(*at);
    }
    if (error && error != std::errc::no_such_file_or_directory) {
      out_.unreadable.push_back({folder.string(), "cannot be read: " + error.message()});
    }
    std::ranges::sort(out);
    out_.bytes += disk::allocated(folder.string());
    return out;
  }

  void add_whole(const fs::directory_entry& at, std::vector<std::string>& into) {
    out_.bytes += disk::allocated_below(at.path().string());
    into.push_back(at.path().string());
  }

  void add_dependencies(const fs::directory_entry& fan) {
    if (!is_folder(fan)) return add_whole(fan, out_.leftovers);
    for (const fs::directory_entry& file : in(fan.path())) {
      const std::string path = file.path().string();
      const auto facts = facts_of(path);
      if (!facts) continue;
      out_.dependencies.push_back({path, facts->bytes, facts->modified});
      out_.bytes += facts->bytes;
    }
  }

  void add_entries(const fs::directory_entry& fan, const std::string& arch) {
    if (!is_folder(fan)) return add_whole(fan, out_.leftovers);
    for (const fs::directory_entry& at : in(fan.path())) {
      const std::string folder = at.path().string();
      const auto whole = facts_of(folder);
      if (!whole) continue;
      // The two files that are in it, rather than another look into each folder. One whose artifact
      // is gone is there all the same.
      const Facts artifact = facts_of(folder + "/artifact.bin").value_or(Facts{0, whole->modified});
      const std::uint64_t bytes =
          whole->bytes + artifact.bytes + disk::allocated(folder + "/meta.json");
      out_.entries.push_back(
          {folder, arch, at.path().filename().string(), bytes, artifact.modified});
      out_.bytes += bytes;
    }
  }

  std::string version_;
  StoreContent out_;
};

}  // namespace

StoreContent look_over(std::string_view root) { return Look(root).all(); }

std::vector<StoreEntry> list_entries(std::string_view root) { return look_over(root).entries; }

}  // namespace einkorn::jit
