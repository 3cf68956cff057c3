#include "src/trials/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/file.h"
#include "src/core/slug.h"
#include "src/core/warning.h"

namespace einkorn::trials {
namespace {

namespace fs = std::filesystem;

std::string reason_of(int error) { return std::system_category().message(error); }

/// An open file, closed with its scope.
class File {
 public:
  File(const std::string& path, int flags) : number_(open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~File() {
    if (number_ >= 0) close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

void add_line(std::string_view line, int number, const std::string& file, Reading& out) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  try {
    out.trials.push_back(parse_line(line));
    out.lines.push_back(number);
  } catch (const Error& error) {
    out.bad.push_back({file, number, error.what()});
  }
}

/// Lines up to the last newline; with `all` also what follows it. Returns the bytes taken.
std::size_t add_lines(std::string_view text, bool all, const std::string& file, int* lines,
                      Reading& out) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos && !all) break;
    add_line(text.substr(begin, end - begin), ++*lines, file, out);
    begin = end == std::string_view::npos ? text.size() : end + 1;
  }
  return begin;
}

void append_reading(Reading& to, const Reading& from) {
  to.trials.insert(to.trials.end(), from.trials.begin(), from.trials.end());
  to.lines.insert(to.lines.end(), from.lines.begin(), from.lines.end());
  to.bad.insert(to.bad.end(), from.bad.begin(), from.bad.end());
}

/// Whether the file ends within a line: its writer died, or the disk was full.
bool is_torn(int file) {
  struct stat info{};
  if (fstat(file, &info) != 0 || info.st_size == 0) return false;
  char last = '\n';
  return pread(file, &last, 1, info.st_size - 1) == 1 && last != '\n';
}

}  // namespace

std::string BadLine::text() const { return fmt::format("{}:{}: {}", file, line, why); }

Reading read_text(std::string_view text, const std::string& file) {
  Reading out;
  int lines = 0;
  add_lines(text, true, file, &lines, out);
  return out;
}

Reading read_trials(const std::string& file) {
  const FileContent content = read_file(file);
  EK_CHECK(
      !content.error, ErrorKind::kRuntime,
      fmt::format("trials: expected a readable file, got {}: {}", file, content.error.message()));
  return read_text(content.text, file);
}

TrialStore::TrialStore(std::string root) : root_(std::move(root)) {}

std::string TrialStore::file_of(std::string_view op, std::string_view device_name) const {
  return fmt::format("{}/v{}/{}/{}.jsonl", root_, kSchema, slug(device_name), op);
}

std::string TrialStore::append(const std::string& file, const std::string& line) const {
  std::error_code error;
  fs::create_directories(fs::path(file).parent_path(), error);
  if (error) return error.message();
  const File out(file, O_RDWR | O_APPEND | O_CREAT);
  if (!out.is_open()) return reason_of(errno);
  // A file system without locks still appends each small write as a whole.
  while (flock(out.number(), LOCK_EX) != 0 && errno == EINTR) {
  }
  const std::string text = (is_torn(out.number()) ? "\n" : "") + line + '\n';
  // One write: a reader, or a writer without the lock, never sees half of it for long.
  const ssize_t written = write(out.number(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return {};
  return written < 0 ? reason_of(errno) : reason_of(ENOSPC);
}

void TrialStore::add(const Trial& trial) {
  const std::lock_guard lock(mutex_);
  if (!root_.empty()) {
    const std::string reason = append(file_of(trial.op, trial.place.device), to_line(trial));
    if (reason.empty()) return;
    warn_once(
        fmt::format("trials cannot be written to {}: {}; they are kept in memory until the "
                    "process ends",
                    root_, reason));
  }
  memory_.push_back(trial);
}

void TrialStore::refresh(const std::string& file, Known& known) const {
  const File in(file, O_RDONLY);
  struct stat info{};
  if (!in.is_open() || fstat(in.number(), &info) != 0) {
    known = {};
    return;
  }
  const auto device = static_cast<std::int64_t>(info.st_dev);
  if (known.inode != info.st_ino || known.device != device || info.st_size < known.bytes) {
    known = {};
    known.inode = info.st_ino;
    known.device = device;
  }
  if (info.st_size == known.bytes || lseek(in.number(), known.bytes, SEEK_SET) < 0) return;
  const FileContent content = read_file(in.number());
  if (content.error) return;
  // A line whose end is not there yet is read when it is.
  const std::size_t taken = add_lines(content.text, false, file, &known.lines, known.reading);
  known.bytes += static_cast<std::int64_t>(taken);
}

const Reading& TrialStore::reading_of(const std::string& file) const {
  Known& known = known_[file];
  refresh(file, known);
  return known.reading;
}

Reading TrialStore::read(std::string_view op, std::string_view device_name) const {
  const std::lock_guard lock(mutex_);
  Reading out;
  if (!root_.empty()) out = reading_of(file_of(op, device_name));
  for (const Trial& trial : memory_) {
    if (trial.op != op || trial.place.device != device_name) continue;
    out.trials.push_back(trial);
    out.lines.push_back(0);
  }
  return out;
}

Reading TrialStore::read_all(std::string_view op) const {
  const std::string wanted = std::string(op) + ".jsonl";
  Reading out;
  const std::vector<std::string> all = files();
  const std::lock_guard lock(mutex_);
  for (const std::string& file : all) {
    if (fs::path(file).filename() == wanted) append_reading(out, reading_of(file));
  }
  for (const Trial& trial : memory_) {
    if (trial.op != op) continue;
    out.trials.push_back(trial);
    out.lines.push_back(0);
  }
  return out;
}

std::vector<std::string> TrialStore::files() const {
  std::vector<std::string> out;
  if (root_.empty()) return out;
  std::error_code error;
  const fs::path folder = fmt::format("{}/v{}", root_, kSchema);
  for (fs::directory_iterator device(folder, error), end; !error && device != end;
       device.increment(error)) {
    std::error_code inner;
    for (fs::directory_iterator file(device->path(), inner); !inner && file != end;
         file.increment(inner)) {
      if (file->path().extension() == ".jsonl") out.push_back(file->path().string());
    }
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace einkorn::trials
