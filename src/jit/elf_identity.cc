#include "src/jit/elf_identity.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include <fmt/format.h>

namespace einkorn::jit {
namespace {

// A note segment has a few notes of some 30 bytes; more is no reason to read a whole library.
constexpr std::uint64_t kMostNoteBytes = 4096;

bool read_at(int file, std::uint64_t offset, void* out, std::size_t bytes) {
  return pread(file, out, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

/// The descriptor of the note NT_GNU_BUILD_ID, as hexadecimal digits.
std::optional<std::string> build_id_in(const std::vector<unsigned char>& notes) {
  std::size_t at = 0;
  while (at + sizeof(Elf64_Nhdr) <= notes.size()) {
    Elf64_Nhdr head;
    std::memcpy(&head, notes.data() + at, sizeof(head));
    const std::size_t name = at + sizeof(head);
    const std::size_t description = name + padded(head.n_namesz);
    const std::size_t end = description + padded(head.n_descsz);
    if (end > notes.size()) return std::nullopt;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
        std::memcmp(notes.data() + name, "GNU", 4) == 0) {
      std::string out;
      for (std::size_t i = 0; i < head.n_descsz; ++i) {
        out += fmt::format("{:02x}", notes[description + i]);
      }
      return out;
    }
    at = end;
  }
  return std::nullopt;
}

std::optional<std::string> build_id(int file) {
  Elf64_Ehdr head;
  if (!read_at(file, 0, &head, sizeof(head))) return std::nullopt;
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64) {
    return std::nullopt;
  }
  for (int i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment;
    const std::uint64_t offset =
        head.e_phoff + std::uint64_t{head.e_phentsize} * static_cast<unsigned>(i);
    if (!read_at(file, offset, &segment, sizeof(segment))) return std::nullopt;
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMostNoteBytes) continue;
    std::vector<unsigned char> notes(segment.p_filesz);
    if (!read_at(file, segment.p_offset, notes.data(), notes.size())) continue;
    if (auto id = build_id_in(notes)) return id;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> library_identity(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::optional<std::string> out = build_id(file);
  struct stat info{};
  if (!out && fstat(file, &info) == 0) {
    out = fmt::format("{} bytes of {}.{:09}", info.st_size, info.st_mtim.tv_sec,
                      info.st_mtim.tv_nsec);
  }
  close(file);
  return out;
}

}  // namespace einkorn::jit
