#pragma once

// Checks of what names a source and its surroundings, shared by verbs and manifests.

#include <span>
#include <string>
#include <string_view>

namespace einkorn::cli {

/// Bad usage that begins with `what`: neither a regular file nor a shipped source, with the nearest
/// name that there is. What is no regular file is refused, since reading it may never end.
void check_source_file(std::string_view what, const std::string& file);

/// Bad usage that begins with `what`: one is no folder.
void check_include_folders(std::string_view what, std::span<const std::string> folders);

/// Bad usage that begins with `what`: one is of another form than sm_90a. Whether a compiler knows
/// it, it says itself.
void check_cuda_archs(std::string_view what, std::span<const std::string> archs);

}  // namespace einkorn::cli
