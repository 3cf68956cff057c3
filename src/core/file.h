#pragma once

// Whole files, with errors that say which and why.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace einkorn {

struct FileContent {
  std::string text;
  std::error_code error;  ///< set: the file could not be read, `text` is empty
};

/// The whole file, or the system's reason.
FileContent read_file(const std::string& path);
/// From where an open file stands to its end.
FileContent read_file(int file);

/// Puts a whole file in place of what is there, its folders made as needed: a reader sees the old
/// file or the new one, and on an error the old one stays. The system's reason.
std::error_code replace_file(const std::string& path, std::string_view text);

/// All of the bytes, or the system's reason.
std::error_code write_all(int file, std::span<const std::byte> bytes);

}  // namespace einkorn
