#pragma once

// Accesses to global memory that say what the caches should make of them. Hints change speed, not
// results (PTX ISA, "Cache operators" and "Cache eviction priority hints").

#include "src/cuda/device/common/piece.cuh"
#include "src/cuda/device/common/types.cuh"

namespace einkorn::cache_detail {

// The asm is volatile so that it stays among the stores around it, as an ordinary load would.
#define EK_CACHE_ACCESS(hint, modifier)                                                        \
  template <>                                                                                  \
  struct Access<hint> {                                                                        \
    __device__ static u8 load(const u8* p) {                                                   \
      u32 v;                                                                                   \
      asm volatile("ld.global" modifier ".u8 %0, [%1];" : "=r"(v) : "l"(p) : "memory");        \
      return static_cast<u8>(v);                                                               \
    }                                                                                          \
    __device__ static u16 load(const u16* p) {                                                 \
      u16 v;                                                                                   \
      asm volatile("ld.global" modifier ".u16 %0, [%1];" : "=h"(v) : "l"(p) : "memory");       \
      return v;                                                                                \
    }                                                                                          \
    __device__ static u32 load(const u32* p) {                                                 \
      u32 v;                                                                                   \
      asm volatile("ld.global" modifier ".u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");       \
      return v;                                                                                \
    }                                                                                          \
    __device__ static uint2 load(const uint2* p) {                                             \
      uint2 v;                                                                                 \
      asm volatile("ld.global" modifier ".v2.u32 {%0, %1}, [%2];"                              \
                   : "=r"(v.x), "=r"(v.y)                                                      \
                   : "l"(p)                                                                    \
                   : "memory");                                                                \
      return v;                                                                                \
    }                                                                                          \
    __device__ static uint4 load(const uint4* p) {                                             \
      uint4 v;                                                                                 \
      asm volatile("ld.global" modifier ".v4.u32 {%0, %1, %2, %3}, [%4];"                      \
                   : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)                                \
                   : "l"(p)                                                                    \
                   : "memory");                                                                \
      return v;                                                                                \
    }                                                                                          \
    __device__ static void store(u8* p, u8 v) {                                                \
      asm volatile("st.global" modifier ".u8 [%0], %1;" ::"l"(p), "r"(u32{v}) : "memory");     \
    }                                                                                          \
    __device__ static void store(u16* p, u16 v) {                                              \
      asm volatile("st.global" modifier ".u16 [%0], %1;" ::"l"(p), "h"(v) : "memory");         \
    }                                                                                          \
    __device__ static void store(u32* p, u32 v) {                                              \
      asm volatile("st.global" modifier ".u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");         \
    }                                                                                          \
    __device__ static void store(uint2* p, uint2 v) {                                          \
      asm volatile("st.global" modifier ".v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(v.x), "r"(v.y) \
                   : "memory");                                                                \
    }                                                                                          \
    __device__ static void store(uint4* p, uint4 v) {                                          \
      asm volatile("st.global" modifier ".v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x),  \
                   "r"(v.y), "r"(v.z), "r"(v.w)                                                \
                   : "memory");                                                                \
    }                                                                                          \
  };
EK_CACHE_ACCESS(Cache::kNoAllocate, ".L1::no_allocate")
EK_CACHE_ACCESS(Cache::kEvictFirst, ".L1::evict_first")
EK_CACHE_ACCESS(Cache::kStreaming, ".cs")
#undef EK_CACHE_ACCESS

}  // namespace einkorn::cache_detail
