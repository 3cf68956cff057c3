#pragma once

// File operations of the store, each with the system's reason as its result: empty is success.

#include <cstddef>
#include <span>
#include <string>

namespace einkorn::jit::disk {

std::string reason_of(int error);

/// The folder and those above it, mode 0700.
std::string make_folders(const std::string& path);

/// A new file with these bytes. Not synced: what a crash of the machine leaves of it, its reader's
/// checksum finds.
std::string write_new(const std::string& path, std::span<const std::byte> bytes);

/// A name that no other process or thread gives, on any machine that shares the folder.
std::string unique_name();

/// The folder with its files, one level deep; what cannot be removed stays.
void remove_entry(const std::string& folder);

}  // namespace einkorn::jit::disk
