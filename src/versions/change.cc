#include "src/versions/change.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <ranges>
#include <vector>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/file.h"

namespace einkorn::versions {
namespace {

namespace fs = std::filesystem;

/// Each with its end of line, if it has one.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

void add_line(std::string& out, char mark, std::string_view line) {
  out += mark;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

/// "3,7": from line `first` (from 0), `count` of them.
std::string range(std::size_t first, std::size_t count) {
  return fmt::format("{},{}", count == 0 ? first : first + 1, count);
}

std::string diff_of(const FileChange& change) {
  std::string out = fmt::format("diff --git a/{0} b/{0}\n", change.path);
  if (!change.before) out += "new file mode 100644\n";
  out += change.before ? fmt::format("--- a/{}\n", change.path) : "--- /dev/null\n";
  out += fmt::format("+++ b/{}\n", change.path);
  const auto before = lines_of(change.before ? std::string_view(*change.before) : "");
  const auto after = lines_of(change.after);
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t head = 0;
  while (head < shorter && before[head] == after[head]) ++head;
  std::size_t tail = 0;
  while (tail < shorter - head &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
    ++tail;
  }
  constexpr std::size_t kContext = 3;
  const std::size_t first = head - std::min(head, kContext);
  const std::size_t after_end = after.size() - tail;
  const std::size_t before_end = before.size() - tail;
  const std::size_t trailing = std::min(tail, kContext);
  out += fmt::format("@@ -{} +{} @@\n", range(first, before_end + trailing - first),
                     range(first, after_end + trailing - first));
  for (std::size_t i = first; i < head; ++i) add_line(out, ' ', before[i]);
  for (std::size_t i = head; i < before_end; ++i) add_line(out, '-', before[i]);
  for (std::size_t i = head; i < after_end; ++i) add_line(out, '+', after[i]);
  for (std::size_t i = 0; i < trailing; ++i) add_line(out, ' ', before[before_end + i]);
  return out;
}

/// Undoes what it was told of, unless it is let go.
class Undo {
 public:
  Undo() = default;
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  ~Undo() {
    for (const Step& step : steps_ | std::views::reverse) undo(step);
  }
  void made(const fs::path& path) { steps_.push_back({path.string(), {}}); }
  void changed(const fs::path& path, const std::string& before) {
    steps_.push_back({path.string(), before});
  }
  void let_go() { steps_.clear(); }

 private:
  struct Step {
    std::string path;
    std::optional<std::string> before;
  };

  /// As well as it goes: the error that is on its way is the one to tell.
  static void undo(const Step& step) {
    if (!step.before) {
      std::error_code ignored;
      static_cast<void>(fs::remove(step.path, ignored));
      return;
    }
    const int file = ::open(step.path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (file < 0) return;
    const std::error_code ignored = write_all(file, std::as_bytes(std::span(*step.before)));
    static_cast<void>(ignored);
    ::close(file);
  }

  std::vector<Step> steps_;
};

[[noreturn]] void throw_unwritten(const fs::path& path, const std::error_code& reason) {
  throw_error(ErrorKind::kRuntime, fmt::format("{}: could not write: {}; nothing was changed",
                                               path.string(), reason.message()));
}

void make_folders(const fs::path& folder, Undo& undo) {
  std::vector<fs::path> missing;
  for (fs::path at = folder; !at.empty() && !fs::exists(at); at = at.parent_path()) {
    missing.push_back(at);
  }
  for (const fs::path& one : missing | std::views::reverse) {
    std::error_code error;
    fs::create_directory(one, error);
    if (error) throw_unwritten(one, error);
    undo.made(one);
  }
}

void write_one(const fs::path& path, const FileChange& change, Undo& undo) {
  make_folders(path.parent_path(), undo);
  const int mode = change.before ? O_TRUNC : O_CREAT | O_EXCL;
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | mode, 0644);
  if (file < 0) throw_unwritten(path, std::error_code(errno, std::generic_category()));
  if (change.before) {
    undo.changed(path, *change.before);
  } else {
    undo.made(path);
  }
  std::error_code error = write_all(file, std::as_bytes(std::span(change.after)));
  // A full disk may show only now.
  if (::close(file) != 0 && !error) error = std::error_code(errno, std::generic_category());
  if (error) throw_unwritten(path, error);
}

}  // namespace

std::string unified_diff(std::span<const FileChange> changes) {
  std::string out;
  for (const FileChange& change : changes) {
    if (change.before != change.after) out += diff_of(change);
  }
  return out;
}

void write_changes(const std::string& root, std::span<const FileChange> changes) {
  Undo undo;
  for (const FileChange& change : changes) write_one(fs::path(root) / change.path, change, undo);
  undo.let_go();
}

}  // namespace einkorn::versions
