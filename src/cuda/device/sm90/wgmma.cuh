#pragma once

// Matrix products of a warpgroup (PTX wgmma, sm_90a): D[64][N] += A[64][16] * B[16][N], A in
// registers, B in shared memory, asynchronous. All 128 threads take part in every call.
//
// Warp w of the group holds rows 16w to 16w + 15 of A and D, each like one m16n8k16 product
// (common/mma.cuh): D's register 4j + i is that product's d[i] at columns 8j to 8j + 7. So a
// D of 16 columns, rounded to 16 bits, is an A of the next product without any exchange.

#include "src/cuda/device/common/address.cuh"

namespace einkorn {

/// Of a B that lies in rows of 128 bytes along K, 16-byte pieces swizzled by row % 8 (the copy
/// engine's 128-byte swizzle), aligned to 1024 bytes: N rows follow each other. The next 16 of K
/// are 32 bytes on.
__device__ inline u64 wgmma_descriptor(const void* tile) {
  constexpr u64 kRows8 = 1024 >> 4;  // bytes between groups of 8 rows
  constexpr u64 kSwizzle128 = 1;
  return (kSwizzle128 << 62) | (kRows8 << 32) | (u64{1} << 16) |
         static_cast<u64>((shared_address(tile) & 0x3ffff) >> 4);
}

/// Of a B that lies in rows of 64 bytes along K, 16-byte pieces swizzled by row / 2 % 4 (the copy
/// engine's 64-byte swizzle), aligned to 512 bytes. The next 16 of K are 32 bytes on.
__device__ inline u64 wgmma_descriptor_64(const void* tile) {
  constexpr u64 kRows8 = 512 >> 4;
  constexpr u64 kSwizzle64 = 2;
  return (kSwizzle64 << 62) | (kRows8 << 32) | (u64{1} << 16) |
         static_cast<u64>((shared_address(tile) & 0x3ffff) >> 4);
}

/// Of a B that lies in rows of 128 bytes along N, for the transposed product: rows of K follow each
/// other, 64 of N wide and swizzled as above; the next 64 of N are `columns64` bytes on. The next
/// 16 of K are 2048 bytes on (PTX ISA, "Matrix descriptor": leading dimension N, stride between
/// groups of 8 of K).
__device__ inline u64 wgmma_descriptor_transposed(const void* tile, u32 columns64) {
  constexpr u64 kRows8 = 1024 >> 4;
  constexpr u64 kSwizzle128 = 1;
  return (kSwizzle128 << 62) | (kRows8 << 32) | (u64{columns64 >> 4} << 16) |
         static_cast<u64>((shared_address(tile) & 0x3ffff) >> 4);
}

/// Before the first product, and after registers of its operands were written.
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until all but the last kPending groups are done.
template <int kPending>
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/// N = 64. `keep` false: D is overwritten.
__device__ inline void wgmma_m64n64k16(float (&d)[32], const u32* a, u64 b, bool keep = true) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
      "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, p, 1, 1, 0;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep ? 1 : 0)
      : "memory");
}

/// N = 64, A in shared memory, too: its descriptor is that of a B whose N rows are A's.
__device__ inline void wgmma_m64n64k16(float (&d)[32], u64 a, u64 b, bool keep = true) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
      "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, p, 1, 1, 0, 0;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b), "r"(keep ? 1 : 0)
      : "memory");
}

/// N = 128. `keep` false: D is overwritten. kTransposed: B is by wgmma_descriptor_transposed().
template <bool kTransposed = false>
__device__ inline void wgmma_m64n128k16(float (&d)[64], const u32* a, u64 b, bool keep = true) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
      "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
      "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, "
      "%60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, p, 1, 1, %70;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
        "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
        "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
        "+f"(d[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep ? 1 : 0),
        "n"(kTransposed ? 1 : 0)
      : "memory");
}

}  // namespace einkorn
