#include "src/jit/store_size.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <span>
#include <string>

#include <fmt/format.h>

#include "src/core/file.h"
#include "src/jit/store.h"

namespace einkorn::jit {
namespace {

constexpr std::time_t kDay = 24 * 3600;
constexpr std::size_t kLong = std::size_t{64} << 10;  // bytes of text, some ten thousand lines
constexpr std::string_view kWalked = "walked ";

std::string path_of(std::string_view root) { return version_folder(root) + "/size"; }

/// One write() with O_APPEND: whole lines, whoever else writes.
void append(const std::string& path, const std::string& line, int flags, mode_t mode) {
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, mode);
  if (file < 0) return;
  if ((flags & O_CREAT) != 0) static_cast<void>(fchmod(file, mode));  // whatever the umask
  // Half a line would make another number of the next one.
  if (write_all(file, std::as_bytes(std::span(line)))) unlink(path.c_str());
  close(file);
}

/// Takes the number at the text's begin and the character behind it.
std::optional<std::uint64_t> take_number(std::string_view& text, char behind) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.starts_with(behind)) return std::nullopt;
  text.remove_prefix(1);
  return number;
}

}  // namespace

std::optional<std::uint64_t> kept_size(std::string_view root, std::time_t now) {
  const FileContent content = read_file(path_of(root));
  std::string_view rest = content.text;
  if (rest.size() > kLong || !rest.starts_with(kWalked)) return std::nullopt;
  rest.remove_prefix(kWalked.size());
  const auto when = take_number(rest, ' ');
  if (!when || now < static_cast<std::time_t>(*when) ||
      now - static_cast<std::time_t>(*when) > kDay) {
    return std::nullopt;
  }
  std::uint64_t total = 0;
  do {
    const auto bytes = take_number(rest, '\n');
    if (!bytes) return std::nullopt;
    total += *bytes;
  } while (!rest.empty());
  return total;
}

void add_to_size(std::string_view root, std::uint64_t bytes) {
  append(path_of(root), fmt::format("{}\n", bytes), 0, 0);
}

void keep_size(std::string_view root, std::uint64_t bytes, std::time_t now) {
  struct stat folder{};
  struct stat file{};
  if (stat(version_folder(root).c_str(), &folder) != 0) return;
  const std::string path = path_of(root);
  const bool there = lstat(path.c_str(), &file) == 0;
  append(path, fmt::format("{}{} {}\n", kWalked, now, bytes), there ? O_TRUNC : O_CREAT | O_EXCL,
         folder.st_mode & 0666);
}

}  // namespace einkorn::jit
