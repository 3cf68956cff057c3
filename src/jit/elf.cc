#include "src/jit/elf.h"

#include <elf.h>

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace einkorn::jit {
namespace {

constexpr std::string_view kNoCubinHint =
    "it takes what NVRTC's nvrtcGetCUBIN gives, or nvcc -cubin writes";

static_assert(std::endian::native == std::endian::little);

/// The string that begins there, without its NUL.
std::string_view string_at(std::span<const std::byte> strings, std::uint64_t offset,
                           std::string_view what) {
  if (offset >= strings.size()) {
    throw_bad_cubin(what, fmt::format("an offset below {}", strings.size()),
                    fmt::format("{}", offset));
  }
  const auto* begin = reinterpret_cast<const char*>(strings.data()) + offset;
  const std::size_t room = strings.size() - static_cast<std::size_t>(offset);
  const auto* end = static_cast<const char*>(std::memchr(begin, 0, room));
  if (end == nullptr) throw_bad_cubin(what, "a NUL at its end", "none");
  return {begin, end};
}

Elf64_Ehdr read_header(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(Elf64_Ehdr)) {
    throw_bad_cubin("length", fmt::format("at least {} bytes", sizeof(Elf64_Ehdr)),
                    fmt::format("{}", bytes.size()), kNoCubinHint);
  }
  const auto header = checked_read<Elf64_Ehdr>(bytes, 0, "header");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    throw_bad_cubin("first bytes", "those of an ELF file, 7f 45 4c 46",
                    fmt::format("{:02x} {:02x} {:02x} {:02x}", header.e_ident[0], header.e_ident[1],
                                header.e_ident[2], header.e_ident[3]),
                    kNoCubinHint);
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    throw_bad_cubin(
        "form", "64-bit little-endian ELF (class 2, data 1)",
        fmt::format("class {}, data {}", header.e_ident[EI_CLASS], header.e_ident[EI_DATA]),
        kNoCubinHint);
  }
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0) {
    throw_bad_cubin("section table", fmt::format("entries of {} bytes", sizeof(Elf64_Shdr)),
                    fmt::format("{} of {}", header.e_shnum, header.e_shentsize));
  }
  return header;
}

}  // namespace

void throw_bad_cubin(std::string_view what, std::string_view expected, std::string_view got,
                     std::string_view hint) {
  throw_error(ErrorKind::kRuntime,
              fmt::format("cubin: {}: expected {}, got {}\n  hint: {}", what, expected, got, hint));
}

std::span<const std::byte> checked_slice(std::span<const std::byte> bytes, std::uint64_t offset,
                                         std::uint64_t size, std::string_view what) {
  // In this order, because the sum may overflow.
  if (offset > bytes.size() || size > bytes.size() - offset) {
    throw_bad_cubin(what, fmt::format("an end by byte {}", bytes.size()),
                    fmt::format("{} bytes from {} on", size, offset));
  }
  return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

Elf::Elf(std::span<const std::byte> bytes) {
  const Elf64_Ehdr header = read_header(bytes);
  machine_ = header.e_machine;
  flags_ = header.e_flags;
  abi_version_ = header.e_ident[EI_ABIVERSION];
  const auto table =
      checked_slice(bytes, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), "section table");
  const auto entry = [&](std::size_t index) {
    return checked_read<Elf64_Shdr>(table, index * sizeof(Elf64_Shdr), "section table");
  };
  if (header.e_shstrndx >= header.e_shnum) {
    throw_bad_cubin("section of names", fmt::format("an index below {}", header.e_shnum),
                    fmt::format("{}", header.e_shstrndx));
  }
  const Elf64_Shdr of_names = entry(header.e_shstrndx);
  const auto names = checked_slice(bytes, of_names.sh_offset, of_names.sh_size, "section of names");
  sections_.reserve(header.e_shnum);
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr raw = entry(i);
    ElfSection section{.name = {},
                       .type = raw.sh_type,
                       .size = raw.sh_size,
                       .link = raw.sh_link,
                       .info = raw.sh_info,
                       .bytes = {}};
    if (raw.sh_type != SHT_NULL) {
      section.name = string_at(names, raw.sh_name, fmt::format("name of section {}", i));
      if (raw.sh_type != SHT_NOBITS) {
        section.bytes = checked_slice(bytes, raw.sh_offset, raw.sh_size,
                                      fmt::format("section {}", section.name));
      }
    }
    sections_.push_back(section);
  }
}

const ElfSection* Elf::find(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const ElfSection& section) { return section.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

std::vector<ElfSymbol> Elf::symbols() const {
  const ElfSection* table = find(".symtab");
  if (table == nullptr) throw_bad_cubin("section .symtab", "one", "none");
  if (table->link >= sections_.size()) {
    throw_bad_cubin("strings of .symtab", fmt::format("an index below {}", sections_.size()),
                    fmt::format("{}", table->link));
  }
  if (table->bytes.size() % sizeof(Elf64_Sym) != 0) {
    throw_bad_cubin("length of .symtab", fmt::format("a multiple of {}", sizeof(Elf64_Sym)),
                    fmt::format("{}", table->bytes.size()));
  }
  const auto strings = sections_[table->link].bytes;
  std::vector<ElfSymbol> symbols(table->bytes.size() / sizeof(Elf64_Sym));
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const auto raw = checked_read<Elf64_Sym>(table->bytes, i * sizeof(Elf64_Sym), ".symtab");
    symbols[i] = {.name = string_at(strings, raw.st_name, "name of a symbol"),
                  .info = raw.st_info,
                  .other = raw.st_other,
                  .section = raw.st_shndx};
  }
  return symbols;
}

}  // namespace einkorn::jit
