#pragma once

// Whole files, with errors that say which and why.

#include <string>
#include <system_error>

namespace einkorn {

struct FileContent {
  std::string text;
  std::error_code error;  ///< set: the file could not be read, `text` is empty
};

/// The whole file, or the system's reason.
FileContent read_file(const std::string& path);

}  // namespace einkorn
