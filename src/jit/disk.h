#pragma once

// File operations of the store, each with the system's reason as its result: empty is success.

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace einkorn::jit::disk {

std::string reason_of(int error);

/// Who may do what with what is made here.
struct Modes {
  mode_t folder = 0700;
  mode_t file = 0600;
};

/// The folder and those above it. One that was not there has its mode, whatever the umask, when
/// others first see it.
std::string make_folders(const std::string& path, const Modes& modes = {});

/// A new file with these bytes. Not synced: what a crash of the machine leaves of it, its reader's
/// checksum finds.
std::string write_new(const std::string& path, std::span<const std::byte> bytes,
                      const Modes& modes = {});

/// A name that no other process or thread gives, on any machine that shares the folder.
std::string unique_name();

/// The file, or the folder with all in it; what cannot be removed stays.
void remove_entry(const std::string& path);

/// What it takes of the disk, by its blocks.
std::uint64_t allocated(const struct stat& info);
/// The same, a folder without what is in it; 0 for what is not there.
std::uint64_t allocated(const std::string& path);
/// The same with all that is in it.
std::uint64_t allocated_below(const std::string& path);

}  // namespace einkorn::jit::disk
