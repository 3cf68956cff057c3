#pragma once

#include <string>

namespace einkorn::cli {

/// Writes a whole file, its folders made as needed. RuntimeError that names the file and the
/// system's reason.
void write_file(const std::string& path, const std::string& text);

/// Local time as "2026-01-31-235959", for names of files.
std::string time_stamp();

}  // namespace einkorn::cli
