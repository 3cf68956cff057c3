#pragma once

// <root>/v1/size: what a store takes of the disk, kept by whoever adds to it, so that nobody has to
// walk through thousands of folders before a publication. The first line is what a walk found and
// when, each further one what a publication added; a line is one write() at the file's end, so that
// processes do not lose each other's.

#include <cstdint>
#include <ctime>
#include <optional>
#include <string_view>

namespace einkorn::jit {

/// Nothing where it has to be walked for: there is no file, it is damaged or long, or the walk was
/// longer ago than a day.
std::optional<std::uint64_t> kept_size(std::string_view root, std::time_t now = std::time(nullptr));

/// Adds what a publication took. Trouble costs no more than a walk later.
void add_to_size(std::string_view root, std::uint64_t bytes);

/// What a walk found. Whoever may write to the store may add to it.
void keep_size(std::string_view root, std::uint64_t bytes, std::time_t now = std::time(nullptr));

}  // namespace einkorn::jit
