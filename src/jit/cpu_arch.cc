#include "src/jit/cpu_arch.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace einkorn::jit {
namespace {

// Levels of the x86-64 psABI, section 3.1.1, by what each adds to the one before.
constexpr std::array<std::string_view, 4> kLevels = {"x86-64", "x86-64-v2", "x86-64-v3",
                                                     "x86-64-v4"};

#if defined(__x86_64__)

struct CpuId {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;

  explicit CpuId(std::uint32_t leaf) {
    if (__get_cpuid_count(leaf, 0, &eax, &ebx, &ecx, &edx) == 0) eax = ebx = ecx = edx = 0;
  }
};

constexpr bool has(std::uint32_t value, std::uint32_t bits) { return (value & bits) == bits; }
constexpr std::uint32_t bit(int index) { return std::uint32_t{1} << index; }

/// Register state that the system saves: bits of XCR0.
std::uint32_t saved_state() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

std::size_t level_of_cpu() {
  const CpuId one(1);
  const CpuId seven(7);
  const CpuId extended(0x80000001);
  // SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF.
  if (!has(one.ecx, bit(0) | bit(9) | bit(13) | bit(19) | bit(20) | bit(23)) ||
      !has(extended.ecx, bit(0))) {
    return 0;
  }
  // FMA, MOVBE, OSXSAVE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT; SSE and AVX state.
  if (!has(one.ecx, bit(12) | bit(22) | bit(27) | bit(28) | bit(29)) ||
      !has(seven.ebx, bit(3) | bit(5) | bit(8)) || !has(extended.ecx, bit(5)) ||
      !has(saved_state(), bit(1) | bit(2))) {
    return 1;
  }
  // AVX512F, DQ, CD, BW, VL; opmask and ZMM state.
  if (!has(seven.ebx, bit(16) | bit(17) | bit(28) | bit(30) | bit(31)) ||
      !has(saved_state(), bit(5) | bit(6) | bit(7))) {
    return 2;
  }
  return 3;
}

#endif

}  // namespace

std::string_view cpu_arch() {
#if defined(__x86_64__)
  static const std::size_t kLevel = level_of_cpu();
  return kLevels[kLevel];
#elif defined(__aarch64__)
  return "armv8-a";
#else
  return "generic";
#endif
}

std::optional<std::string> cannot_run(std::string_view arch) {
  const auto level = [](std::string_view name) {
    return std::find(kLevels.begin(), kLevels.end(), name) - kLevels.begin();
  };
  if (arch == cpu_arch() || level(arch) == static_cast<std::ptrdiff_t>(kLevels.size())) {
    return std::nullopt;
  }
  const std::ptrdiff_t own = level(cpu_arch());
  if (own < static_cast<std::ptrdiff_t>(kLevels.size()) && level(arch) < own) return std::nullopt;
  return fmt::format("it was compiled for {}, and this CPU is {}", arch, cpu_arch());
}

}  // namespace einkorn::jit
