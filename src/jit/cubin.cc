#include "src/jit/cubin.h"

#include <elf.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "src/jit/elf.h"

namespace einkorn::jit {
namespace {

constexpr std::uint16_t kCudaMachine = 190;
// The first with 128-bit instructions.
constexpr int kOldestSm = 70;
constexpr std::uint8_t kEntryBit = 0x10;  // st_other: STO_CUDA_ENTRY
// From sm_90 on a block's shared memory begins with this much that is the system's; it is part of
// the section's size, but not of what ptxas reports.
constexpr std::uint64_t kReservedSmem = 1024;
constexpr int kFirstSmWithReserve = 90;

// Attribute numbers, EIATTR_* of cuobjdump.
constexpr std::uint8_t kMaxThreads = 0x05;
constexpr std::uint8_t kRequiredThreads = 0x10;
constexpr std::uint8_t kFrameSize = 0x11;
constexpr std::uint8_t kParameter = 0x17;
constexpr std::uint8_t kRegisterCount = 0x2f;
constexpr std::uint8_t kParameterV2 = 0x45;  // where the parameters exceed 4 KiB
// Of .nv.compat, where CUDA 13 says 1 for a target with "a" and 0 otherwise.
constexpr std::uint8_t kCompatArchSpecific = 0x09;

/// One record of .nv.info or .nv.compat.
struct Attribute {
  std::uint8_t id = 0;
  std::uint16_t value = 0;             // of records without a payload
  std::span<const std::byte> payload;  // of the others
};

/// Records are a format byte, the attribute's number, then either 2 bytes of value (formats 1 to 3:
/// none, one or two of them used) or 2 bytes of length and a payload (format 4).
std::vector<Attribute> attributes_of(const ElfSection& section) {
  std::vector<Attribute> out;
  std::span<const std::byte> rest = section.bytes;
  while (!rest.empty()) {
    const auto format = checked_read<std::uint8_t>(rest, 0, section.name);
    Attribute attribute{.id = checked_read<std::uint8_t>(rest, 1, section.name),
                        .value = checked_read<std::uint16_t>(rest, 2, section.name),
                        .payload = {}};
    rest = rest.subspan(4);
    if (format < 1 || format > 4) {
      throw_bad_cubin(fmt::format("{}, attribute {:#x}", section.name, attribute.id),
                      "a format of 1 to 4", fmt::format("{}", format));
    }
    if (format == 4) {
      attribute.payload = checked_slice(rest, 0, attribute.value, section.name);
      rest = rest.subspan(attribute.payload.size());
    }
    out.push_back(attribute);
  }
  return out;
}

template <class T>
T field(const Attribute& attribute, std::uint64_t offset, std::string_view what) {
  return checked_read<T>(attribute.payload, offset, what);
}

/// Number and suffix of the architecture. Layouts by LLVM's EF_CUDA_*: with ABI version 7 the
/// number is in bits 0 to 7 and "a" is bit 11; with 8 (Blackwell in CUDA 12.8 and 12.9, everything
/// in 13) they are bits 8 to 15 and bit 3, and since 13.0 "a" is in .nv.compat instead.
std::pair<int, bool> architecture_of(const Elf& elf) {
  const std::uint32_t flags = elf.flags();
  const bool old_layout = elf.abi_version() <= 7;
  const int sm = static_cast<int>((old_layout ? flags : flags >> 8) & 0xff);
  bool specific = (flags & (old_layout ? 0x800u : 0x8u)) != 0;
  if (const ElfSection* compat = elf.find(".nv.compat")) {
    for (const Attribute& attribute : attributes_of(*compat)) {
      if (attribute.id == kCompatArchSpecific && attribute.value != 0) specific = true;
    }
  }
  if (sm < kOldestSm) {
    throw_bad_cubin("architecture", fmt::format("sm_{} or newer", kOldestSm),
                    fmt::format("sm_{} (flags {:#x})", sm, flags),
                    "older code has instructions of another form");
  }
  return {sm, specific};
}

struct SymbolFacts {
  std::int64_t registers = 0;
  std::int64_t frame_bytes = 0;
};

/// What .nv.info says of all kernels, by index of their symbols.
std::unordered_map<std::uint32_t, SymbolFacts> module_facts(const Elf& elf) {
  std::unordered_map<std::uint32_t, SymbolFacts> facts;
  const ElfSection* info = elf.find(".nv.info");
  if (info == nullptr) return facts;
  for (const Attribute& attribute : attributes_of(*info)) {
    if (attribute.id != kRegisterCount && attribute.id != kFrameSize) continue;
    const auto symbol = field<std::uint32_t>(attribute, 0, ".nv.info");
    const auto value = field<std::uint32_t>(attribute, 4, ".nv.info");
    SymbolFacts& of = facts[symbol];
    (attribute.id == kRegisterCount ? of.registers : of.frame_bytes) = value;
  }
  return facts;
}

/// {u32 unused, u16 index, u16 offset}, then the size: the upper 14 bits of a u32, or, in the form
/// for large parameters, a u16.
CubinParameter parameter_of(const Attribute& attribute, std::string_view what) {
  return {.index = field<std::uint16_t>(attribute, 4, what),
          .offset = field<std::uint16_t>(attribute, 6, what),
          .bytes = attribute.id == kParameterV2
                       ? field<std::uint16_t>(attribute, 8, what)
                       : std::int64_t{field<std::uint32_t>(attribute, 8, what) >> 18}};
}

int thread_count(const Attribute& attribute, std::string_view what) {
  std::int64_t count = 1;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::int64_t size = field<std::uint32_t>(attribute, 4 * i, what);
    // No block has more; keeps the product of damaged sizes from overflowing.
    count = std::min<std::int64_t>(count * size, std::numeric_limits<int>::max());
  }
  return static_cast<int>(count);
}

/// What .nv.info.<kernel> says.
void add_own_facts(const ElfSection& section, CubinKernel& kernel) {
  for (const Attribute& attribute : attributes_of(section)) {
    if (attribute.id == kParameter || attribute.id == kParameterV2) {
      kernel.parameters.push_back(parameter_of(attribute, section.name));
    } else if (attribute.id == kMaxThreads || attribute.id == kRequiredThreads) {
      kernel.max_threads = thread_count(attribute, section.name);
    }
  }
  std::sort(kernel.parameters.begin(), kernel.parameters.end(),
            [](const auto& a, const auto& b) { return a.index < b.index; });
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (kernel.parameters[i].index == static_cast<int>(i)) continue;
    throw_bad_cubin(fmt::format("parameters in {}", section.name), fmt::format("number {}", i),
                    fmt::format("{}", kernel.parameters[i].index));
  }
}

void count_local_accesses(std::span<const std::byte> code, CubinKernel& kernel) {
  // The low 12 bits of an instruction's 128 are its operation; its predicate comes after them.
  constexpr std::size_t kInstructionBytes = 16;
  constexpr std::uint32_t kLoadLocal = 0x983;
  constexpr std::uint32_t kStoreLocal = 0x387;
  for (std::size_t at = 0; at + kInstructionBytes <= code.size(); at += kInstructionBytes) {
    const std::uint32_t operation = checked_read<std::uint16_t>(code, at, "code") & 0xfffu;
    kernel.local_loads += operation == kLoadLocal ? 1 : 0;
    kernel.local_stores += operation == kStoreLocal ? 1 : 0;
  }
}

std::int64_t shared_bytes(std::uint64_t section_bytes, int sm, std::string_view kernel) {
  const std::uint64_t reserved = sm >= kFirstSmWithReserve ? kReservedSmem : 0;
  // As much as a signed 32-bit number holds; no device has a thousandth of it.
  constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (section_bytes < reserved || section_bytes > kMost) {
    throw_bad_cubin(fmt::format("shared memory of {}", kernel),
                    fmt::format("{} to {} bytes", reserved, kMost),
                    fmt::format("{}", section_bytes));
  }
  return static_cast<std::int64_t>(section_bytes - reserved);
}

constexpr int kMostRegisters = 256;

int register_count(const SymbolFacts& facts, std::string_view kernel) {
  if (facts.registers < 1 || facts.registers > kMostRegisters) {
    throw_bad_cubin(fmt::format("registers of {}", kernel), fmt::format("1 to {}", kMostRegisters),
                    fmt::format("{}", facts.registers));
  }
  return static_cast<int>(facts.registers);
}

bool is_kernel(const ElfSymbol& symbol) {
  return ELF64_ST_TYPE(symbol.info) == STT_FUNC && (symbol.other & kEntryBit) != 0 &&
         symbol.section != SHN_UNDEF;
}

}  // namespace

Cubin read_cubin(std::span<const std::byte> bytes) {
  const Elf elf(bytes);
  if (elf.machine() != kCudaMachine) {
    throw_bad_cubin("machine", fmt::format("{} (CUDA)", kCudaMachine),
                    fmt::format("{}", elf.machine()),
                    "it is a program or library for another processor");
  }
  Cubin cubin;
  std::tie(cubin.sm, cubin.arch_specific) = architecture_of(elf);
  std::unordered_map<std::string_view, const ElfSection*> by_name;
  for (const ElfSection& section : elf.sections()) by_name.emplace(section.name, &section);
  const auto section_of = [&](std::string_view prefix, std::string_view kernel) {
    const auto found = by_name.find(fmt::format("{}{}", prefix, kernel));
    return found == by_name.end() ? nullptr : found->second;
  };
  const auto facts = module_facts(elf);
  const std::vector<ElfSymbol> symbols = elf.symbols();
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const std::string_view name = symbols[i].name;
    if (!is_kernel(symbols[i])) continue;
    if (!seen.insert(name).second)
      throw_bad_cubin("kernels", "each once", fmt::format("{} twice", name));
    const ElfSection* code = section_of(".text.", name);
    if (code == nullptr) throw_bad_cubin(fmt::format("code of {}", name), "a section", "none");
    const auto found = facts.find(static_cast<std::uint32_t>(i));
    const SymbolFacts of = found == facts.end() ? SymbolFacts{} : found->second;
    CubinKernel kernel;
    kernel.lowered = name;
    kernel.resources.registers = register_count(of, name);
    kernel.resources.stack_bytes = of.frame_bytes;
    if (const ElfSection* shared = section_of(".nv.shared.", name)) {
      kernel.resources.static_smem = shared_bytes(shared->size, cubin.sm, name);
    }
    if (const ElfSection* own = section_of(".nv.info.", name)) add_own_facts(*own, kernel);
    count_local_accesses(code->bytes, kernel);
    kernel.code_bytes = static_cast<std::int64_t>(code->bytes.size());
    cubin.kernels.push_back(std::move(kernel));
  }
  return cubin;
}

}  // namespace einkorn::jit
