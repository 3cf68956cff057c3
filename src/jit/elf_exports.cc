#include "src/jit/elf_exports.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "src/jit/elf.h"

namespace einkorn::jit {
namespace {

bool is_export(const Elf64_Sym& symbol) {
  const int binding = ELF64_ST_BIND(symbol.st_info);
  const int type = ELF64_ST_TYPE(symbol.st_info);
  const int visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  return symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS &&
         (binding == STB_GLOBAL || binding == STB_WEAK || binding == STB_GNU_UNIQUE) &&
         (type == STT_FUNC || type == STT_OBJECT || type == STT_GNU_IFUNC || type == STT_TLS) &&
         (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

/// Up to the NUL or the end of the table.
std::string name_at(std::span<const std::byte> strings, std::size_t offset) {
  if (offset >= strings.size()) return {};
  const auto* begin = reinterpret_cast<const char*>(strings.data()) + offset;
  return {begin, strnlen(begin, strings.size() - offset)};
}

}  // namespace

std::vector<std::string> exported_symbols(std::span<const std::byte> object) {
  const Elf elf(object);
  const ElfSection* table = elf.find(".dynsym");
  std::vector<std::string> out;
  if (table == nullptr || table->link >= elf.sections().size()) return out;
  const std::span<const std::byte> strings = elf.sections()[table->link].bytes;
  for (std::size_t i = 0; i < table->bytes.size() / sizeof(Elf64_Sym); ++i) {
    const auto symbol = checked_read<Elf64_Sym>(table->bytes, i * sizeof(Elf64_Sym), ".dynsym");
    if (is_export(symbol)) out.push_back(name_at(strings, symbol.st_name));
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace einkorn::jit
