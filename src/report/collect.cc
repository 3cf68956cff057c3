#include "src/report/collect.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/file.h"
#include "src/report/read.h"

namespace einkorn::report {
namespace {

namespace fs = std::filesystem;

class Collector {
 public:
  void add(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    EK_CHECK(
        fs::exists(status), ErrorKind::kValue,
        fmt::format("report: {}: {}\n  hint: a result file, a folder of them, or a file of trials",
                    path, error ? error.message() : std::string("no such file or folder")));
    if (fs::is_directory(status)) {
      add_folder(path);
      return;
    }
    try {
      if (first_time(path)) add_file(path);
    } catch (const Error& failed) {
      throw_error(ErrorKind::kValue, fmt::format("report: {}: {}", path, failed.what()));
    }
  }

  Documents take() { return std::move(documents_); }

 private:
  /// In the order of names, so that the same files give the same report.
  void add_folder(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code error;
    fs::recursive_directory_iterator entry(folder, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      std::error_code unreadable;
      const fs::path& path = entry->path();
      if ((path.extension() == ".json" || path.extension() == ".jsonl") &&
          !entry->is_directory(unreadable)) {
        files.push_back(path.string());
      }
    }
    EK_CHECK(!error, ErrorKind::kValue,
             fmt::format("report: {}: could not be listed: {}", folder, error.message()));
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
      if (!first_time(file)) continue;
      try {
        add_file(file);
      } catch (const Error& failed) {
        const std::string reason = failed.what();
        documents_.skipped.push_back({file, 0, 1, reason.substr(0, reason.find('\n'))});
      }
    }
  }

  void add_file(const std::string& path) {
    const FileContent content = read_file(path);
    EK_CHECK(!content.error, ErrorKind::kValue,
             fmt::format("could not be read: {}", content.error.message()));
    if (fs::path(path).extension() == ".jsonl") {
      read_trials(path, content.text, documents_);
      return;
    }
    EK_CHECK(fs::path(path).filename() != "params.json", ErrorKind::kValue,
             "what a profile was taken with; the profile lies beside it");
    read_document(path, content.text, documents_);
  }

  bool first_time(const std::string& path) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path, error);
    return seen_.insert(error ? path : real.string()).second;
  }

  Documents documents_;
  std::set<std::string> seen_;
};

}  // namespace

Documents collect(std::span<const std::string> paths) {
  Collector collector;
  for (const std::string& path : paths) collector.add(path);
  return collector.take();
}

}  // namespace einkorn::report
