#pragma once

// Instruction sets that vector code is compiled for: to be included before any header of Highway's.
// Each costs compile time and size, so only those that make a difference to f32 arithmetic stay:
// AVX-512 (AVX3), AVX2, SSE4 and the baseline; NEON and the baseline.

// Bits 4 and 6 are AVX3_SPR and AVX3_ZEN4, which Highway 1.0 has no names for.
#define HWY_DISABLED_TARGETS                                                              \
  (HWY_SSSE3 | HWY_AVX3_DL | (1LL << 4) | (1LL << 6) | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | \
   HWY_SVE2_128)
